/** What the walk prints: a heading per step, the command that does it, and what came of it. */
export interface Narrator {
  step(text: string): void;
  command(text: string): void;
  output(text: string): void;
  note(text: string): void;
}

export function narrator(out: { write(text: string): unknown; isTTY?: boolean }): Narrator {
  const paint = (code: string, text: string): string => (out.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text);
  let count = 0;
  return {
    step(text) {
      count += 1;
      out.write(`\n${paint('1', `${count}. ${text}`)}\n`);
    },
    command: (text) => void out.write(`   ${paint('36', `$ ${text}`)}\n`),
    output(text) {
      for (const line of text.trimEnd().split('\n')) out.write(`     ${line}\n`);
    },
    note: (text) => void out.write(`   ${text}\n`),
  };
}
