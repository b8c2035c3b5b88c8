import { randomUUID } from 'node:crypto';
import { BadRequest } from '@strongroom/engine-sdk';
import type { Store } from '../../kernel/storage/store.ts';
import type { Entities } from '../identity/entities.ts';
import type { Groups } from '../identity/groups.ts';
import { mfaSettings, NO_SETTINGS, type LoginEnforcement, type MfaSettings, type TotpMethod } from './mfa-settings.ts';

/** A write: the lists that are left out stay. */
export type EnforcementOrder = { readonly [K in keyof Omit<LoginEnforcement, 'id' | 'name'>]: readonly string[] | undefined };

/** One login, as enforcements see it. */
export interface EnforcedLogin {
  readonly mount: { readonly accessor: string; readonly type: string };
  /** '' where the method knows no entity. */
  readonly entityId: string;
}

/** An enforcement that a login has to meet, by any of the methods. */
export interface RequiredFactor {
  readonly enforcement: LoginEnforcement;
  readonly methods: readonly TotpMethod[];
}

/** Login methods as an enforcement can name them. */
export interface LoginMounts {
  byAccessor(accessor: string): { readonly class: 'secret' | 'auth' } | undefined;
  list(kind: 'auth'): readonly { readonly type: string }[];
}

interface Parts {
  readonly store: Store;
  readonly identity: { readonly entities: Entities; readonly groups: Groups };
  readonly mounts: LoginMounts;
}

/** Which logins need a second factor. */
export class LoginEnforcements {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async list(): Promise<readonly LoginEnforcement[]> {
    return (await mfaSettings.get(this.#parts.store))?.enforcements ?? [];
  }

  async get(name: string): Promise<LoginEnforcement | undefined> {
    return (await this.list()).find((enforcement) => enforcement.name === name);
  }

  /** Creates, or changes what is supplied. @throws BadRequest */
  async save(name: string, order: EnforcementOrder): Promise<void> {
    if (!order.mfa_method_ids?.length) throw new BadRequest('missing method ids');
    await this.#requireKnown(order);
    await this.#parts.store.transaction(async (tx) => {
      const settings = (await mfaSettings.get(tx)) ?? NO_SETTINGS;
      const former = settings.enforcements.find((enforcement) => enforcement.name === name);
      const list = (key: keyof EnforcementOrder): string[] => [...new Set(order[key] ?? former?.[key] ?? [])];
      const saved: LoginEnforcement = {
        id: former?.id ?? randomUUID(),
        name,
        mfa_method_ids: list('mfa_method_ids'),
        auth_method_accessors: list('auth_method_accessors'),
        auth_method_types: list('auth_method_types'),
        identity_group_ids: list('identity_group_ids'),
        identity_entity_ids: list('identity_entity_ids'),
      };
      if (!saved.mfa_method_ids.every((id) => settings.methods.some((method) => method.id === id)))
        throw new BadRequest("one of the provided method ids doesn't exist");
      if (TARGETS.every((key) => saved[key].length === 0)) throw new BadRequest(`One of ${TARGETS.join(', ')} must be specified`);
      mfaSettings.put(tx, { ...settings, enforcements: [...settings.enforcements.filter((one) => one !== former), saved] });
    });
  }

  /** An unknown name is no error. */
  async remove(name: string): Promise<void> {
    await this.#parts.store.transaction(async (tx) => {
      const settings = await mfaSettings.get(tx);
      const enforcements = settings?.enforcements.filter((enforcement) => enforcement.name !== name);
      if (settings && enforcements?.length !== settings.enforcements.length)
        mfaSettings.put(tx, { ...settings, enforcements: enforcements! });
    });
  }

  /** What the login has to prove, all of it: those that name its entity first, then its groups, its mount, the type of its mount. */
  async requiredOf(login: EnforcedLogin): Promise<RequiredFactor[]> {
    const settings = await mfaSettings.get(this.#parts.store);
    if (!settings || settings.enforcements.length === 0) return [];
    const { entities, groups } = await this.#belongings(login, settings);
    const rules: readonly ((enforcement: LoginEnforcement) => boolean)[] = [
      ({ identity_entity_ids }) => identity_entity_ids.some((id) => entities.has(id)),
      ({ identity_group_ids }) => identity_group_ids.some((id) => groups.has(id)),
      ({ auth_method_accessors }) => auth_method_accessors.includes(login.mount.accessor),
      ({ auth_method_types }) => auth_method_types.includes(login.mount.type),
    ];
    const matching = new Set(rules.flatMap((matches) => settings.enforcements.filter(matches)));
    return [...matching].map((enforcement) => ({
      enforcement,
      methods: enforcement.mfa_method_ids.flatMap((id) => settings.methods.find((method) => method.id === id) ?? []),
    }));
  }

  /** The ids by which an enforcement may mean the entity: its own, those of entities that were merged into it, and all groups above it. */
  async #belongings(
    { entityId }: EnforcedLogin,
    { enforcements }: MfaSettings,
  ): Promise<{ entities: ReadonlySet<string>; groups: ReadonlySet<string> }> {
    const asked = enforcements.some((one) => one.identity_entity_ids.length > 0 || one.identity_group_ids.length > 0);
    const view = asked && entityId !== '' ? await this.#parts.identity.entities.view(entityId) : undefined;
    if (!view) return { entities: NONE, groups: NONE };
    return {
      entities: new Set([view.id, ...view.entity.merged_entity_ids]),
      groups: new Set([...view.direct.keys(), ...view.inherited.keys()]),
    };
  }

  /** @throws BadRequest */
  async #requireKnown(order: EnforcementOrder): Promise<void> {
    const { identity, mounts } = this.#parts;
    const { auth_method_accessors = [], auth_method_types = [], identity_group_ids = [], identity_entity_ids = [] } = order;
    if (!auth_method_accessors.every((accessor) => mounts.byAccessor(accessor)?.class === 'auth'))
      throw new BadRequest('one of the auth method accessors provided is invalid');
    const types = new Set(mounts.list('auth').map(({ type }) => type));
    if (!auth_method_types.every((type) => types.has(type))) throw new BadRequest('one of the auth method types provided is invalid');
    const groups = await Promise.all(identity_group_ids.map(async (id) => identity.groups.view(id)));
    if (groups.includes(undefined)) throw new BadRequest("one of the provided group ids doesn't exist");
    const entities = await Promise.all(identity_entity_ids.map(async (id) => identity.entities.view(id)));
    if (entities.includes(undefined)) throw new BadRequest("one of the provided entity ids doesn't exist");
  }
}

const NONE: ReadonlySet<string> = new Set();
const TARGETS = ['auth_method_accessors', 'auth_method_types', 'identity_group_ids', 'identity_entity_ids'] as const;
