const WORDS: Readonly<Record<string, string>> = {
  arn: 'ARN',
  arns: 'ARNs',
  binddn: 'bind DN',
  bindpass: 'bind password',
  ca: 'CA',
  cidrs: 'CIDRs',
  crl: 'CRL',
  csr: 'CSR',
  db: 'database',
  dn: 'DN',
  dns: 'DNS',
  groupattr: 'group attribute',
  groupdn: 'group DN',
  groupfilter: 'group filter',
  hmac: 'HMAC',
  iam: 'IAM',
  id: 'id',
  ids: 'ids',
  jwks: 'JWKS',
  jwt: 'JWT',
  kubernetes: 'Kubernetes',
  ldif: 'LDIF',
  ocsp: 'OCSP',
  oidc: 'OIDC',
  qr: 'QR',
  sans: 'SANs',
  starttls: 'StartTLS',
  sts: 'STS',
  tls: 'TLS',
  ttl: 'time to live',
  uri: 'URI',
  uris: 'URIs',
  upndomain: 'UPN domain',
  url: 'URL',
  userattr: 'user attribute',
  userdn: 'user DN',
  userfilter: 'user filter',
  vhost: 'virtual host',
  vhosts: 'virtual hosts',
};

/** The name of a field in words: `max_ttl` is “Max time to live”. */
export function inWords(name: string): string {
  const words = name
    .split(/[_-]/)
    .map((word) => (Object.hasOwn(WORDS, word) ? WORDS[word] : word))
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
