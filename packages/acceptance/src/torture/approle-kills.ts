import { CallRefused, KillableServer } from './killable-server.ts';

/** What went wrong; empty when nothing did. */
export interface AppRoleReport {
  readonly problems: readonly string[];
  /** Logins whose answer arrived. */
  readonly answered: number;
  /** Logins that a kill cut off. */
  readonly cutOff: number;
}

/** Uses of each secret id; the last of them delete it. */
const USES = [1, 2, 3, 10];
const SECRET_IDS = 24;
const WORKERS = 8;

interface Counted {
  readonly secretId: string;
  readonly uses: number;
  answered: number;
}

/**
 * Kills a server in the middle of many logins by secret ids with few uses, and compares after each start what is left of each secret id with the tokens
 * that it gave: together they are its uses, so none was taken twice or lost, and every token that was answered is there.
 */
export class AppRoleKills {
  readonly #server: KillableServer;
  readonly #problems: string[] = [];
  #roleId = '';
  #answered = 0;
  #cutOff = 0;
  #heard = (): void => undefined;

  private constructor(server: KillableServer) {
    this.#server = server;
  }

  static async create(): Promise<AppRoleKills> {
    const kills = new AppRoleKills(await KillableServer.start());
    await kills.#prepare();
    return kills;
  }

  async run(kills: number, random: () => number): Promise<AppRoleReport> {
    for (let round = 1; round <= kills; round += 1) await this.#round(round, random);
    return { problems: this.#problems, answered: this.#answered, cutOff: this.#cutOff };
  }

  async dispose(): Promise<void> {
    await this.#server.dispose();
  }

  async #prepare(): Promise<void> {
    await this.#server.call('POST', 'sys/auth/approle', { type: 'approle' });
    // Secret ids that are used up are refused often, which is no guessing here.
    await this.#server.call('POST', 'sys/auth/approle/tune', { user_lockout_config: { lockout_disable: true } });
    await this.#server.call('POST', 'auth/approle/role/web', { token_policies: 'web', token_ttl: '24h' });
    const { data } = await this.#server.call('GET', 'auth/approle/role/web/role-id');
    this.#roleId = (data as { role_id: string }).role_id;
  }

  async #round(round: number, random: () => number): Promise<void> {
    const secretIds = new Map<string, Counted>();
    for (let i = 0; i < SECRET_IDS; i += 1) {
      const uses = USES[i % USES.length]!;
      const name = `${round}-${i}`;
      const { data } = await this.#server.call('POST', 'auth/approle/role/web/secret-id', { num_uses: uses, metadata: `name=${name}` });
      secretIds.set(name, { secretId: (data as { secret_id: string }).secret_id, uses, answered: 0 });
    }
    const stop = new AbortController();
    const workers = Array.from({ length: WORKERS }, async () => this.#worker([...secretIds.values()], random, stop.signal));
    await this.#answers(3 + Math.floor(random() * 12));
    await this.#server.dieDuring(workers, () => stop.abort());
    await this.#check(round, secretIds);
  }

  /** Resolves when so many more logins are answered: also on a busy machine, a kill then meets a server at work. */
  #answers(more: number): Promise<void> {
    const wanted = this.#answered + more;
    return new Promise((resolve) => {
      this.#heard = () => void (this.#answered >= wanted && resolve());
    });
  }

  async #worker(secretIds: readonly Counted[], random: () => number, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const one = secretIds[Math.floor(random() * secretIds.length)]!;
      try {
        await this.#server.call('POST', 'auth/approle/login', { role_id: this.#roleId, secret_id: one.secretId }, stop);
        one.answered += 1;
        this.#answered += 1;
        this.#heard();
      } catch (error) {
        // No use is left.
        if (error instanceof CallRefused) continue;
        this.#cutOff += 1;
        return;
      }
    }
  }

  async #check(round: number, secretIds: ReadonlyMap<string, Counted>): Promise<void> {
    const given = await this.#tokens();
    for (const [name, { secretId, uses, answered }] of secretIds) {
      const found = await this.#server.call('POST', 'auth/approle/role/web/secret-id/lookup', { secret_id: secretId });
      const left = (found['data'] as { secret_id_num_uses: number } | undefined)?.secret_id_num_uses ?? 0;
      const tokens = given.get(name) ?? 0;
      if (tokens + left !== uses)
        this.#problems.push(`round ${round}: ${tokens} tokens of secret id ${name}, and ${left} of ${uses} uses left`);
      if (answered > tokens)
        this.#problems.push(`round ${round}: ${answered} logins by ${name} were answered, but ${tokens} tokens are there`);
    }
  }

  /** How many tokens each secret id has given, by its name. */
  async #tokens(): Promise<Map<string, number>> {
    const { data } = await this.#server.call('GET', 'auth/token/accessors?list=true');
    const given = new Map<string, number>();
    for (const accessor of (data as { keys: string[] }).keys) {
      const token = await this.#server.call('POST', 'auth/token/lookup-accessor', { accessor });
      const name = (token['data'] as { meta: Record<string, string> | null }).meta?.['name'];
      if (name !== undefined) given.set(name, (given.get(name) ?? 0) + 1);
    }
    return given;
  }
}
