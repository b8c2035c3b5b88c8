const WORDS: Readonly<Record<string, string>> = {
  ttl: 'time to live',
  url: 'URL',
  dn: 'DN',
  id: 'id',
  ca: 'CA',
  tls: 'TLS',
  jwt: 'JWT',
  cidrs: 'CIDRs',
  db: 'database',
};

/** The name of a field in words: `max_ttl` is “Max time to live”. */
export function inWords(name: string): string {
  const words = name
    .split(/[_-]/)
    .map((word) => WORDS[word] ?? word)
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
