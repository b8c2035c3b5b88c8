import { randomBytes } from 'node:crypto';
import { SealedProcess, type NamedBlock } from '../seals/sealed-process.ts';

/** What went wrong; `problems` is empty when nothing did. */
export interface SealReport {
  readonly kills: number;
  /** Changes that were answered before the server was killed. */
  readonly answered: number;
  readonly problems: readonly string[];
}

/** A `seal "static"` block with a key of its own. */
function staticSeal(name: string, priority: number): NamedBlock {
  return ['static', { name, priority, current_key_id: randomBytes(4).toString('hex'), current_key: randomBytes(32).toString('hex') }];
}

/**
 * Kills servers with SIGKILL while their seals change: migrations, rekeys, a new root key, new versions of a seal's key, seals that are added and removed. The next
 * server opens the store by what was in force before or by what was to be in force, and never by neither; what was answered counts.
 */
export class SealKills {
  readonly #server: SealedProcess;
  readonly #random: () => number;
  readonly #problems: string[] = [];
  #seals: readonly NamedBlock[] = [staticSeal('first', 1)];
  #shares: readonly string[] = [];
  #kills = 0;
  #answered = 0;
  /** Milliseconds that a start takes. */
  #starts = 0;

  private constructor(server: SealedProcess, random: () => number) {
    this.#server = server;
    this.#random = random;
  }

  static async create(random: () => number): Promise<SealKills> {
    const run = new SealKills(await SealedProcess.create(), random);
    const began = Date.now();
    await run.#server.start(run.#seals);
    run.#starts = Date.now() - began;
    run.#shares = (await run.#server.init({ recovery_shares: 2, recovery_threshold: 2 })).recovery_keys;
    await run.#server.call('PUT', 'cubbyhole/kept', { value: 'kept' });
    await run.#server.kill();
    return run;
  }

  /** At least so many kills; every kind of change has its turn. */
  async run(kills: number): Promise<SealReport> {
    const changes = [this.#migrate, this.#rekey, this.#replaceRootKey, this.#renewSealKey, this.#exchangeSeals];
    for (let round = 0; this.#kills < kills && this.#problems.length === 0; round += 1) await changes[round % changes.length]!.call(this);
    return { kills: this.#kills, answered: this.#answered, problems: this.#problems };
  }

  async dispose(): Promise<void> {
    await this.#server.dispose();
  }

  /** From the seals to shares and back. */
  async #migrate(): Promise<void> {
    const disabled = this.#seals.map(([type, keys]): NamedBlock => [type, { ...keys, disabled: true }]);
    for (const [target, automatic] of [
      [disabled, false],
      [this.#seals, true],
    ] as const) {
      await this.#server.start(target);
      await this.#server.call('PUT', 'sys/unseal', { key: this.#shares[0], migrate: true });
      const answered = await this.#dieDuring('PUT', 'sys/unseal', { key: this.#shares[1], migrate: true }, 60);
      await this.#server.start(target);
      const { migration } = (await this.#server.call('GET', 'sys/seal-status')).body;
      if (migration && answered) this.#problems.push('a migration that was answered is not in force');
      if (migration || !automatic)
        for (const key of this.#shares) await this.#server.call('PUT', 'sys/unseal', { key, migrate: migration });
      await this.#reads('a migration');
    }
  }

  /** New shares are in force when they were verified, and the old ones until then. */
  async #rekey(): Promise<void> {
    await this.#server.start(this.#seals);
    await this.#server.untilOpen();
    const order = { secret_shares: 2, secret_threshold: 2, require_verification: true };
    const { nonce } = (await this.#server.call('PUT', 'sys/rotate/recovery/init', order)).body.data;
    let made: { keys: string[]; verification_nonce: string } | undefined;
    for (const key of this.#shares) made = (await this.#server.call('PUT', 'sys/rotate/recovery/update', { key, nonce })).body.data;
    const [first, last] = made!.keys;
    await this.#server.call('PUT', 'sys/rotate/recovery/verify', { key: first, nonce: made!.verification_nonce });
    const answered = await this.#dieDuring('PUT', 'sys/rotate/recovery/verify', { key: last, nonce: made!.verification_nonce }, 20);
    await this.#server.start(this.#seals);
    await this.#server.untilOpen();
    const waiting = await this.#server.call('GET', 'sys/rotate/recovery/verify');
    if (waiting.status === 200 && answered) this.#problems.push('a verification that was answered waits again');
    if (!(await this.#proves(waiting.status === 200 ? this.#shares : made!.keys)))
      this.#problems.push(`${waiting.status === 200 ? 'the present' : 'the new'} shares prove nothing`);
    if (waiting.status === 200) await this.#server.call('DELETE', 'sys/rotate/recovery/init');
    else this.#shares = made!.keys;
    await this.#reads('a rekey');
  }

  async #replaceRootKey(): Promise<void> {
    await this.#server.start(this.#seals);
    await this.#server.untilOpen();
    await this.#dieDuring('PUT', 'sys/rotate/root', {}, 20);
    await this.#server.start(this.#seals);
    await this.#reads('a new root key');
  }

  /** The key of a seal has a new version; when it has wrapped, the old one may go. */
  async #renewSealKey(): Promise<void> {
    const renewed = this.#seals.map(([type, { current_key, current_key_id, ...keys }]): NamedBlock => {
      const [, made] = staticSeal('', 0);
      const previous = { previous_key: current_key!, previous_key_id: current_key_id! };
      return [type, { ...keys, ...previous, current_key: made['current_key']!, current_key_id: made['current_key_id']! }];
    });
    await this.#dieStarting(renewed);
    await this.#server.start(renewed);
    await this.#reads('a new version of the key of a seal');
    this.#seals = renewed.map(([type, { previous_key: _, previous_key_id: __, ...keys }]): NamedBlock => [type, keys]);
    await this.#server.start(this.#seals);
    await this.#reads('the end of the old version');
  }

  /** A second seal is added, and the first one removed. */
  async #exchangeSeals(): Promise<void> {
    const next = [staticSeal(`seal-${this.#kills}`, 2)];
    const both = [...this.#seals, ...next];
    await this.#dieStarting(both);
    await this.#server.start(both);
    await this.#server.untilWrapped();
    await this.#reads('a seal that was added');
    await this.#dieStarting(next);
    await this.#server.start(next);
    await this.#reads('a seal that was removed');
    this.#seals = next;
  }

  /** Sends the call and kills the server after at most so many milliseconds. Whether it was answered by then. */
  async #dieDuring(method: string, path: string, body: unknown, most: number): Promise<boolean> {
    let answered = false;
    const calling = this.#server.call(method, path, body).then(
      ({ status }) => (answered = status < 300),
      () => undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, this.#random() * most));
    await this.#server.kill();
    await calling;
    this.#kills += 1;
    if (answered) this.#answered += 1;
    return answered;
  }

  async #dieStarting(seals: readonly NamedBlock[]): Promise<void> {
    await this.#server.startAndKill(seals, this.#starts * (0.5 + this.#random()));
    this.#kills += 1;
  }

  /** The server opens, and has what was stored. It is killed then. */
  async #reads(after: string): Promise<void> {
    try {
      await this.#server.untilOpen();
      const { status, body } = await this.#server.call('GET', 'cubbyhole/kept');
      if (status !== 200 || body.data.value !== 'kept') this.#problems.push(`after ${after}: ${status} ${JSON.stringify(body)}`);
    } catch (error) {
      this.#problems.push(`after ${after}: ${String(error)}`);
    }
    await this.#server.kill();
  }

  /** Whether these shares make a root token. */
  async #proves(shares: readonly string[]): Promise<boolean> {
    const { nonce } = (await this.#server.call('PUT', 'sys/generate-root-token/attempt', {})).body.data;
    let complete = false;
    for (const key of shares)
      complete = (await this.#server.call('PUT', 'sys/generate-root-token/update', { key, nonce })).body.data?.complete === true;
    return complete;
  }
}
