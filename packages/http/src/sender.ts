import type { IncomingMessage } from 'node:http';
import type { CoreHandler } from './core-types.ts';

/** Who sends a request, as far as that matters before its body is read. */
export class Sender {
  readonly token: string | undefined;
  readonly #core: CoreHandler;
  readonly #address: string;
  #known: Promise<boolean> | undefined;

  constructor(core: CoreHandler, headers: IncomingMessage['headers'], address: string) {
    this.#core = core;
    this.token = tokenOf(headers);
    this.#address = address;
  }

  /** Whether the token is one that exists now. Asked once, and only where it matters; uses nothing of the token up. */
  known(): Promise<boolean> {
    this.#known ??= this.#ask();
    return this.#known;
  }

  /** Whether nobody can be known now. */
  get sealed(): boolean {
    return this.#core.sealed === true;
  }

  async #ask(): Promise<boolean> {
    if (this.token === undefined || this.token === '' || !this.#core.recognizes) return false;
    return this.#core.recognizes(this.token, this.#address);
  }
}

function tokenOf(headers: IncomingMessage['headers']): string | undefined {
  const token = headers['x-vault-token'];
  if (token !== undefined) return String(token);
  const { authorization } = headers;
  return authorization !== undefined && /^bearer /i.test(authorization) ? authorization.slice(7).trim() : undefined;
}
