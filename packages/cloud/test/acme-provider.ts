import { CloudRefused, type AccessKey, type CloudProvider, type CloudSession } from '../src/index.ts';

export type KeysOfUser = Map<string, AccessKey & { created: Date }>;

/** A cloud of a test's own, in memory: what another package would bring to the engine. */
export class AcmeCloud {
  readonly users = new Map<string, { id: string; tags: Readonly<Record<string, string>>; keys: KeysOfUser }>();
  /** What the next deletion of a key waits for. */
  deletion: (() => Promise<void>) | undefined;
  #count = 0;

  readonly provider: CloudProvider = {
    name: 'acme',
    title: 'Acme',
    version: '1.0.0',
    usernameTemplate: '{{ .Type }}-{{ .PolicyName }}-{{ random 8 }}',
    longestName: { IAM: 30, STS: 30 },
    keysPerUser: 2,
    open: () => this.#session(),
  };

  #session(): CloudSession {
    const user = (name: string) => {
      const found = this.users.get(name);
      if (found) return found;
      throw new CloudRefused({ provider: 'Acme', code: 'NoSuchUser', text: `no user ${name}`, requestId: '7', outcome: 'refused' });
    };
    const next = (): number => (this.#count += 1);
    const temporary = (arn: string, seconds: number) => ({
      access_key: `tmp-${next()}`,
      secret_key: 'temporary',
      session_token: 'token',
      expires: new Date(Date.now() + seconds * 1_000),
      arn,
    });
    return {
      createUser: async ({ name, tags }) => {
        const id = `u${next()}`;
        this.users.set(name, { id, tags, keys: new Map() });
        return { id, account: 'acme' };
      },
      equipUser: async () => undefined,
      removeUser: async (name) => (this.users.delete(name) ? 'removed' : 'absent'),
      taggedUsers: async () => [],
      createKey: async (name) => {
        const count = next();
        // Later keys are younger, also within one millisecond: which key is the oldest must not depend on the speed of the machine.
        const key = { access_key: `k${count}`, secret_key: 'secret', created: new Date(count * 1_000) };
        user(name).keys.set(key.access_key, key);
        return key;
      },
      listKeys: async (name) => [...user(name).keys.values()].map(({ access_key: id, created }) => ({ id, created })),
      deactivateKey: async () => undefined,
      deleteKey: async (name, id) => {
        const { deletion } = this;
        this.deletion = undefined;
        await deletion?.();
        user(name).keys.delete(id);
      },
      accepts: async ({ access_key }) => [...this.users.values()].some(({ keys }) => keys.has(access_key)),
      assumeRole: async ({ roleArn, seconds }) => temporary(roleArn, seconds),
      federate: async ({ name, seconds }) => temporary(name, seconds),
      sessionToken: async ({ seconds }) => temporary('root', seconds),
      groupPolicies: async () => ({ arns: [], documents: [] }),
      ownUser: async () => ({ name: 'root', account: 'acme' }),
      ownAccount: async () => 'acme',
      close: () => undefined,
    };
  }
}
