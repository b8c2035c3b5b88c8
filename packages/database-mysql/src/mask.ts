import { redact, redactCut } from '@strongroom/database-sdk';

/** From this many bytes on a quotation has probably been cut: servers quote 80, and whole characters; MariaDB sets dots behind. */
const CUT_FROM = 76;

/** Syntax errors quote the statement from where it went wrong, and cut it: perhaps in the middle of a password. */
export function mask(text: string, secrets: Readonly<Record<string, string>>): string {
  const asWritten = Object.fromEntries(
    Object.entries(secrets).map(([label, secret]) => [label, secret.replaceAll('\\', '\\\\').replaceAll("'", "''")]),
  );
  const forms = Object.fromEntries(Object.entries(secrets).map(([label, secret]) => [label, [asWritten[label] ?? secret, secret]]));
  const whole = redact(redact(text, asWritten), secrets);
  return whole.replace(/ near '([^]*?)((?:\.\.\.)?)'( at line \d+)$/, (near, quoted: string, dots: string, line: string) =>
    Buffer.byteLength(quoted + dots) < CUT_FROM ? near : ` near '${redactCut(quoted, forms)}${dots}'${line}`,
  );
}
