import { BadRequest, type StorageView } from '@strongroom/engine-sdk';
import type { TemplateContext } from '../identity/identity-cache.ts';
import { isName, oidcRecords, requireShortName, type Assignment } from './oidc-records.ts';

/** It is always there, and names everybody. */
export const ALLOW_ALL = 'allow_all';

/** Named groups of people who may log in at a client. */
export class Assignments {
  readonly #storage: () => StorageView;

  constructor(storage: () => StorageView) {
    this.#storage = storage;
  }

  async get(name: string): Promise<Assignment | undefined> {
    if (name === ALLOW_ALL) return { entity_ids: ['*'], group_ids: ['*'] };
    return isName(name) ? oidcRecords(this.#storage()).assignments.get(name) : undefined;
  }

  async names(): Promise<string[]> {
    return [...(await oidcRecords(this.#storage()).assignments.list()), ALLOW_ALL].sort();
  }

  /** @throws BadRequest */
  async save(
    name: string,
    fields: { readonly entity_ids?: readonly string[] | undefined; readonly group_ids?: readonly string[] | undefined },
  ): Promise<void> {
    requireShortName(name);
    if (name === ALLOW_ALL) throw new BadRequest(`modification of assignment ${JSON.stringify(name)} not allowed`);
    await this.#storage().transaction(async (tx) => {
      const { assignments } = oidcRecords(tx);
      const before = await assignments.get(name);
      await assignments.put(name, {
        entity_ids: idsOf(fields.entity_ids ?? before?.entity_ids),
        group_ids: idsOf(fields.group_ids ?? before?.group_ids),
      });
    });
  }

  /** Unknown ones are no error. @throws BadRequest while a client uses it */
  async remove(name: string): Promise<void> {
    if (name === ALLOW_ALL) throw new BadRequest(`deletion of assignment ${JSON.stringify(name)} not allowed`);
    await this.#storage().transaction(async (tx) => {
      const records = oidcRecords(tx);
      const users = (await records.clients.entries()).filter(([, client]) => client.assignments.includes(name)).map(([client]) => client);
      if (users.length > 0)
        throw new BadRequest(
          `unable to delete assignment ${JSON.stringify(name)} because it is currently referenced by these clients: ${users.join(', ')}`,
        );
      await records.assignments.delete(name);
    });
  }

  /** Whether one of the assignments names the entity or a group that it is in. */
  async cover(names: readonly string[], { entity, groups }: TemplateContext): Promise<boolean> {
    for (const name of names) {
      const assignment = await this.get(name);
      if (!assignment) continue;
      const { entity_ids, group_ids } = assignment;
      if (name === ALLOW_ALL || entity_ids.includes(entity.id) || groups.some(({ id }) => group_ids.includes(id))) return true;
    }
    return false;
  }
}

function idsOf(ids: readonly string[] = []): string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
