import { EngineError, type EngineHost, type ManagedAccount } from '@strongroom/engine-sdk';
import { isDn, namedAccount, serverUrls } from '@strongroom/ldap-client';
import { claimAccount, manualPlan, present, Rotation, type Change, type Proof, type StateLens } from '@strongroom/rotation';
import { changePasswordIn, locateIn, proveBind } from './account-entry.ts';
import { bindNameOf, unsettled, type LdapSecretsConfig } from './config.ts';
import { DirectoryFailed, DirectoryMisused, outcomeOf, textOf } from './directory-failed.ts';
import { makePassword } from './password-maker.ts';
import { CONFIG, recordsIn } from './records.ts';
import { rootAddress } from './root-address.ts';
import { ROOT_MANAGER, type DirectoryService } from './service.ts';

const rootState: StateLens<LdapSecretsConfig, string> = {
  state: ({ root, bindpass }) => ({ ...(root ?? { last_rotation: 0, next_rotation: 0 }), current: bindpass }),
  withState: (config, { current, ...root }) => ({ ...config, bindpass: current ?? config.bindpass, root: present(root) }),
};

/** Rotation of the password that the mount itself logs in with. */
export class RootRotation {
  readonly rotation: Rotation<LdapSecretsConfig, string>;
  readonly #host: EngineHost;
  readonly #service: DirectoryService;

  constructor(host: EngineHost, service: DirectoryService) {
    this.#host = host;
    this.#service = service;
    this.rotation = new Rotation(host, {
      kind: 'rotate-root',
      noun: 'root credential of',
      about: (_id, { binddn }) => ({ noun: 'root credential', name: binddn, path: 'config', retry: 'rotate-root' }),
      reported: () => ({ name: 'config', paths: ['config'] }),
      lens: rootState,
      records: (storage) => recordsIn(storage).config,
      plan: () => manualPlan,
      target: () => service.target,
      make: async (_id, config) => makePassword(host, config),
      apply: async (change) => this.#apply(change),
      outcomeOf,
      messageOf: textOf,
      prove: async (change) => this.#prove(change),
      unproven: (_id, _config, text) => new DirectoryFailed(text, 'unknown'),
      claims: {
        by: () => ROOT_MANAGER,
        called: ({ binddn }) => binddn,
        identify: async (_id, config, signal) => this.#identify(config, signal),
      },
      ofItself: true,
      keepsPrevious: true,
      missing: () => new DirectoryMisused('the config is currently unset'),
    });
    service.settleRoot = async (config) => (await this.rotation.settle(CONFIG, config, new AbortController().signal)).record;
  }

  /**
   * `adopt` takes the account over from whoever manages it now. @throws InvalidRequest without a configuration, BadRequest where another one manages the
   * account, TooManyRequests while another process rotates, DirectoryFailed.
   */
  async rotate(signal: AbortSignal, adopt = false): Promise<void> {
    const config = await this.#service.require();
    if (adopt) await this.#adopt(config, signal);
    try {
      await this.rotation.rotate(CONFIG, signal);
    } catch (error) {
      throw error instanceof EngineError ? error : new DirectoryFailed(textOf(error), outcomeOf(error), error);
    }
  }

  /** In the registry of managed accounts; undefined while it is not known. An account that may not look at itself goes by its name. */
  async #identify(config: LdapSecretsConfig, signal: AbortSignal): Promise<ManagedAccount | undefined> {
    try {
      const located = await this.#service.useAsIs(unsettled(config), async (open) =>
        locateIn(this.#service, open, rootAddress(config), signal),
      );
      return located.account;
    } catch (error) {
      const { binddn, url } = config;
      return error instanceof DirectoryMisused && isDn(binddn) ? namedAccount(binddn, serverUrls(url)) : undefined;
    }
  }

  async #adopt(seen: LdapSecretsConfig, signal: AbortSignal): Promise<void> {
    const account = seen.root?.managed_account ?? (await this.#identify(seen, signal));
    if (!account) return;
    await this.#host.storage.transaction(async (tx) => {
      const inside = recordsIn(tx).config;
      const config = await inside.get(CONFIG);
      if (config?.binddn !== seen.binddn) return;
      await claimAccount(tx, { account, by: ROOT_MANAGER, called: config.binddn, adopt: true });
      await inside.put(CONFIG, {
        ...config,
        root: { ...(config.root ?? { last_rotation: 0, next_rotation: 0 }), managed_account: account },
      });
    });
  }

  async #apply({ record, candidate, signal }: Change<LdapSecretsConfig, string>): Promise<void> {
    await this.#service.useAsIs(unsettled(record), async (open) =>
      changePasswordIn(this.#service, open, rootAddress(record), candidate, signal),
    );
  }

  async #prove({ record, candidate, signal }: Change<LdapSecretsConfig, string>): Promise<Proof> {
    const current = record.bindpass;
    return this.#service.useAsIs(record, async ({ directory }) => proveBind(directory, bindNameOf(record), { candidate, current }, signal));
  }
}
