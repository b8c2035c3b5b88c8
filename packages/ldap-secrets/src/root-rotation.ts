import { EngineError, type EngineHost } from '@strongroom/engine-sdk';
import { escapeFilterValue, isDn } from '@strongroom/ldap-client';
import { manualPlan, Rotation, type Change, type Proof, type StateLens } from '@strongroom/rotation';
import { changePasswordIn, proveBind, type AccountAddress } from './account-entry.ts';
import { bindNameOf, unsettled, type LdapSecretsConfig } from './config.ts';
import { DirectoryFailed, DirectoryMisused, outcomeOf, textOf } from './directory-failed.ts';
import { makePassword } from './password-maker.ts';
import { CONFIG, recordsIn } from './records.ts';
import type { DirectoryService } from './service.ts';

const rootState: StateLens<LdapSecretsConfig, string> = {
  state: ({ root, bindpass }) => ({ ...(root ?? { last_rotation: 0, next_rotation: 0 }), current: bindpass }),
  withState: (config, { current, ...root }) => ({ ...config, bindpass: current ?? config.bindpass, root }),
};

/** Rotation of the password that the mount itself logs in with. */
export class RootRotation {
  readonly rotation: Rotation<LdapSecretsConfig, string>;
  readonly #service: DirectoryService;

  constructor(host: EngineHost, service: DirectoryService) {
    this.#service = service;
    this.rotation = new Rotation(host, {
      kind: 'rotate-root',
      noun: 'root credential of',
      lens: rootState,
      records: (storage) => recordsIn(storage).config,
      plan: () => manualPlan,
      target: () => `the directory of ${host.mount.accessor}`,
      make: async (_id, config) => makePassword(host, config),
      apply: async (change) => this.#apply(change),
      outcomeOf,
      messageOf: textOf,
      prove: async (change) => this.#prove(change),
      ofItself: true,
      keepsPrevious: true,
      missing: () => new DirectoryMisused('the config is currently unset'),
    });
    service.settleRoot = async (config) => (await this.rotation.settle(CONFIG, config, new AbortController().signal)).record;
  }

  /** @throws InvalidRequest without a configuration, TooManyRequests while another process rotates, DirectoryFailed. */
  async rotate(signal: AbortSignal): Promise<void> {
    await this.#service.require();
    try {
      await this.rotation.rotate(CONFIG, signal);
    } catch (error) {
      throw error instanceof EngineError ? error : new DirectoryFailed(textOf(error), outcomeOf(error), error);
    }
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

/** Where the managing account's own entry is. Active Directory takes a principal name also where the entry does not spell it out. */
function rootAddress(config: LdapSecretsConfig): AccountAddress {
  const { binddn } = config;
  if (isDn(binddn)) return { username: binddn, dn: binddn };
  const principal = escapeFilterValue(bindNameOf(config));
  const name = escapeFilterValue(binddn.replace(/^.*\\/, '').replace(/@.*$/, ''));
  return { username: binddn, filter: `(|(userPrincipalName=${principal})(sAMAccountName=${name}))` };
}
