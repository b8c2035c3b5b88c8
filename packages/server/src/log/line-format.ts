/** The levels of pino, by their numbers. */
const NAMES: Readonly<Record<number, string>> = { 10: 'TRACE', 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR', 60: 'ERROR' };

/** One of pino's JSON lines as people read it: `2030-01-01T00:00:00.000Z [INFO]  unsealed: millis=3`. */
export function standardLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as { level: number; time: string; msg?: string };
  const tag = `[${NAMES[level] ?? String(level)}]`.padEnd(7);
  const rest = Object.entries(fields as Record<string, unknown>).map(([name, value]) => `${printable(name)}=${valueText(value)}`);
  const message = printable(msg ?? '');
  return `${time} ${tag} ${message}${rest.length > 0 ? `: ${rest.join(' ')}` : ''}\n`;
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return printable(/^[^\s"=]+$/.test(text) ? text : JSON.stringify(text));
}

/** Nobody begins a line of his own in the log, or steers the terminal that shows it. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (char) => {
    const code = char.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}
