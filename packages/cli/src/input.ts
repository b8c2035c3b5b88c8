import type { Readable } from 'node:stream';
import { Failure } from './failure.ts';

/** A terminal's stdin; a plain stream has no raw mode. */
type Terminal = Readable & { setRawMode?: (raw: boolean) => unknown; isRaw?: boolean };

/** Everything on standard input, as text. */
export async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer | string));
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * One line from standard input, not echoed when it is a terminal. `ask` writes the question: what is typed from then on is hidden. What was sent behind the
 * line is left for the next one; at the end of the input the line is empty.
 */
export async function readHiddenLine(stdin: Terminal, ask: () => void): Promise<string> {
  stdin.setRawMode?.(true);
  try {
    ask();
    return await new Promise<string>((resolve, reject) => {
      let line = '';
      const finish = (done: () => void) => {
        stdin.off('data', onData);
        stdin.off('end', onEnd);
        done();
      };
      const onEnd = () => finish(() => resolve(line));
      const onData = (chunk: Buffer | string) => {
        const letters = [...chunk.toString()];
        for (const [at, letter] of letters.entries()) {
          if (letter === '\u0003') return finish(() => reject(new Failure('Interrupted')));
          if (letter === '\r' || letter === '\n' || letter === '\u0004') {
            const rest = letters.slice(letter === '\r' && letters[at + 1] === '\n' ? at + 2 : at + 1).join('');
            return finish(() => {
              if (rest !== '') stdin.unshift(rest);
              resolve(line);
            });
          }
          if (letter === '\u007f' || letter === '\b') line = [...line].slice(0, -1).join('');
          else line += letter;
        }
      };
      if (stdin.readableEnded) return resolve(line);
      stdin.on('data', onData);
      stdin.on('end', onEnd);
      stdin.resume();
    });
  } finally {
    stdin.setRawMode?.(false);
    stdin.pause();
  }
}
