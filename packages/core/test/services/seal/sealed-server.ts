import { expect } from '@jest/globals';
import { checkedCore, manualClock, type ManualClock, type SharedMemory } from '@strongroom/engine-testkit';
import type { Log } from '@strongroom/engine-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import type { ConfiguredSeal, Core } from '../../../src/index.ts';

export interface SealStatus {
  readonly type: string;
  readonly sealed: boolean;
  readonly t: number;
  readonly n: number;
  readonly progress: number;
  readonly migration: boolean;
  readonly recovery_seal: boolean;
  readonly warnings?: readonly string[];
}

export interface Keys {
  readonly keys: readonly string[];
  readonly recovery_keys?: readonly string[];
  readonly root_token: string;
}

/** One server over a store that several share. */
export class SealedServer {
  readonly core: Core;
  readonly clock: ManualClock;
  readonly logged: { readonly level: string; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[];

  private constructor(core: Core, clock: ManualClock, logged: SealedServer['logged']) {
    this.core = core;
    this.clock = clock;
    this.logged = logged;
  }

  static async start(
    store: SharedMemory | StorageDriver,
    seals: readonly ConfiguredSeal[] = [],
    clock = manualClock(),
  ): Promise<SealedServer> {
    const logged: SealedServer['logged'] = [];
    const at =
      (level: string) =>
      (message: string, fields = {}): void =>
        void logged.push({ level, message, fields });
    const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), trace: at('trace') } as unknown as Log;
    const storage = 'open' in store ? store.open() : store;
    return new SealedServer(await checkedCore({ storage, seals, log, liveness: { clock } }), clock, logged);
  }

  async init(order: Record<string, unknown>): Promise<Keys> {
    const answer = await this.core.handle({ operation: 'update', path: 'sys/init', data: order });
    expect(answer.errors).toBeUndefined();
    return JSON.parse(String(answer.raw!.body)) as Keys;
  }

  async status(): Promise<SealStatus> {
    return JSON.parse(String((await this.core.handle({ operation: 'read', path: 'sys/seal-status' })).raw!.body)) as SealStatus;
  }

  async health(): Promise<Record<string, unknown>> {
    return JSON.parse(String((await this.core.handle({ operation: 'read', path: 'sys/health' })).raw!.body)) as Record<string, unknown>;
  }

  /** Status, and what it says. */
  async unseal(key: string, migrate = false): Promise<readonly [number, unknown]> {
    const { status, errors } = await this.core.handle({ operation: 'update', path: 'sys/unseal', data: { key, migrate } });
    return [status, errors?.[0]];
  }

  /** Whether it serves a caller who has this token. */
  async serves(token: string): Promise<boolean> {
    return (await this.core.handle({ operation: 'read', path: 'sys/mounts', token })).status === 200;
  }

  /** Moves the clock, and lets what that sets off go on. */
  async after(time: string | number): Promise<void> {
    await this.clock.advance(time);
    for (let i = 0; i < 60; i += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  said(message: string): Readonly<Record<string, unknown>>[] {
    return this.logged.filter((line) => line.message.includes(message)).map(({ fields }) => fields);
  }
}
