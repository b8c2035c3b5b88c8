import { rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { silentLog, systemClock } from '@strongroom/engine-sdk';
import { isSealError, type SealErrorCode } from './errors.ts';
import type { SealContract, SealWorld } from './seal-contract.ts';
import type { SealPlugin, SealSession, WrappedBlob } from './seal-plugin.ts';
import { readSettings } from './read-settings.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Longer than any answer of a service that runs. Milliseconds. */
const PATIENCE = 20_000;

/** Sessions of one plugin, and calls with the data that the cases share. */
export class ContractFixture {
  readonly plugin: SealPlugin;
  readonly world: SealWorld;
  readonly #open: SealSession[] = [];

  private constructor(plugin: SealPlugin, world: SealWorld) {
    this.plugin = plugin;
    this.world = world;
  }

  /** Starts the service, runs `work`, and ends everything. */
  static async use({ plugin, start }: SealContract, work: (fixture: ContractFixture) => Promise<void>): Promise<void> {
    const fixture = new ContractFixture(plugin, await start());
    try {
      await work(fixture);
    } finally {
      for (const session of fixture.#open) await session.close();
      await fixture.world.stop();
    }
  }

  async open(block = this.world.block): Promise<SealSession> {
    const read = readSettings(this.plugin.settings, { block, env: {}, readFile: readFileSync });
    const wrong = read.complaints.map(({ key = '', text }) => `${key} ${text}`);
    const values = read.values();
    wrong.push(...(this.plugin.check?.(values) ?? []));
    if (wrong.length > 0) throw new Error(`the block of the contract is not valid: ${wrong.join('; ')}`);
    const session = await this.plugin.open(values, { log: silentLog, clock: systemClock });
    this.#open.push(session);
    return session;
  }
}

/** Associated data of the cases. */
export const AAD = bytes('core/seal-key');

export async function wrap(session: SealSession, plain: Uint8Array, aad = AAD): Promise<WrappedBlob> {
  return session.wrap({ plain, aad, signal: AbortSignal.timeout(PATIENCE) });
}

export async function unwrap(session: SealSession, blob: Uint8Array, aad = AAD): Promise<Uint8Array> {
  return session.unwrap({ blob, aad, signal: AbortSignal.timeout(PATIENCE) });
}

export async function keyId(session: SealSession): Promise<string> {
  return session.keyId({ signal: AbortSignal.timeout(PATIENCE) });
}

/** Fails unless `work` rejects with an error of this package that has the code. */
export async function failsWith(code: SealErrorCode, work: Promise<unknown>): Promise<Error> {
  let thrown: unknown;
  await rejects(work, (error: unknown) => {
    thrown = error;
    if (isSealError(error, code)) return true;
    throw new Error(`rejected with ${String(error)} (${(error as { code?: string }).code ?? 'no code'}), not with ${code}`);
  });
  return thrown as Error;
}
