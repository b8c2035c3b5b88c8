import { Code } from '@mantine/core';

/** A sentence of a declaration; what it has between backticks is code. */
export function MarkedText({ text }: { readonly text: string }) {
  return text.split('`').map((part, at) => (at % 2 === 1 ? <Code key={at}>{part}</Code> : part));
}
