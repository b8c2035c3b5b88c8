import { expect } from '@jest/globals';
import { SealedProcess, type SealBlock } from '../../src/seals/sealed-process.ts';

/** A service that keeps a key, as a test emulates it. */
export interface EmulatedSeal {
  readonly type: string;
  /** The keys of its block. */
  readonly block: SealBlock;
  /** The same, as environment variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** What leads the library of the service to the test. */
  readonly surroundings?: Readonly<Record<string, string>>;
  /** Nothing of these may appear in logs and answers. */
  readonly secrets: readonly string[];
  /** A new version of the key; absent where another key is configured instead. */
  rotate?(): Promise<void> | void;
  /** The service is away, until `back`. */
  away(): Promise<void> | void;
  back(): Promise<void> | void;
  /** The operators use the command line; by default they call the API, as it does. */
  readonly commands?: boolean;
}

/**
 * The life of a server under one seal, over processes: started before the initialization, sealed by hand, killed, and started while the service is away, then with its
 * seal named by the environment alone.
 */
export async function walkUnderSeal({ type, block, variables, surroundings = {}, secrets, ...service }: EmulatedSeal): Promise<void> {
  const server = await SealedProcess.create();
  const operators = service.commands ? commandsOf(server) : callsOf(server);
  try {
    await server.start([[type, block]], surroundings);
    expect((await server.call('GET', 'sys/seal-status')).body).toMatchObject({
      type,
      initialized: false,
      sealed: true,
      recovery_seal: true,
    });
    const made = await server.init({ recovery_shares: 2, recovery_threshold: 2 });
    expect((await server.call('GET', 'sys/seal-status')).body).toMatchObject({
      type,
      sealed: false,
      t: 2,
      n: 2,
      recovery_seal_type: 'shamir',
    });
    await server.call('PUT', 'cubbyhole/kept', { value: 'kept' });

    if (service.rotate) {
      const before = (await server.call('GET', 'sys/sealwrap/rewrap')).body.data.seals[0]!.key_id;
      await service.rotate();
      const { entries, seals } = (await server.call('PUT', 'sys/sealwrap/rewrap')).body.data;
      expect(entries).toEqual({ processed: 1, succeeded: 1, failed: 0 });
      expect(seals[0]!.key_id).not.toBe(before);
    }

    await operators.seal();
    expect(await operators.status()).toContain('sealed by hand: give recovery keys to operator unseal, or restart it');
    for (const key of made.recovery_keys) await operators.unseal(key);
    expect((await server.call('GET', 'cubbyhole/kept')).body.data).toEqual({ value: 'kept' });

    await server.kill();
    await service.away();
    await server.start([], { ...surroundings, ...variables, BAO_SEAL_TYPE: type });
    await server.until('the log says why', ({ log }) => /\[ERROR\] the server stays sealed because its seal/.test(log));
    expect((await server.call('GET', 'sys/seal-status')).body.warnings).toEqual([
      expect.stringMatching(new RegExp(`^the seal "${type}" .*; the server stays sealed and tries again$`)),
    ]);
    expect((await server.call('GET', 'sys/seal-backend-status')).body).toMatchObject({
      healthy: false,
      backends: [{ name: type, healthy: false }],
    });
    await operators.unseal(made.recovery_keys[0]!);
    expect(await operators.unseal(made.recovery_keys[1]!)).toMatch(
      /503[^]*the seal .*: recovery keys allow this server to open, and cannot do it themselves/,
    );
    await service.back();
    await server.untilOpen();
    expect((await server.call('GET', 'cubbyhole/kept')).body.data).toEqual({ value: 'kept' });
    for (const secret of [...secrets, server.token, ...made.recovery_keys]) expect(server.log).not.toContain(secret);
  } finally {
    await server.dispose();
  }
}

/** What operators do, each with what they are shown. */
interface Operators {
  seal(): Promise<unknown>;
  status(): Promise<string>;
  unseal(key: string): Promise<string>;
}

function commandsOf(server: SealedProcess): Operators {
  const said = async (...words: string[]): Promise<string> => (await server.command(...words)).text;
  return {
    seal: async () => said('operator', 'seal'),
    status: async () => said('status'),
    unseal: async (key) => said('operator', 'unseal', key),
  };
}

function callsOf(server: SealedProcess): Operators {
  const said = async (method: string, path: string, body?: unknown): Promise<string> =>
    JSON.stringify(await server.call(method, path, body));
  return {
    seal: async () => said('PUT', 'sys/seal'),
    status: async () => said('GET', 'sys/seal-status'),
    unseal: async (key) => said('PUT', 'sys/unseal', { key }),
  };
}
