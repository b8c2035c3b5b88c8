import { type AnyPath, boundsOf, f, NoContent, orNoContent, pageFields, path } from '@strongroom/engine-sdk';
import type { AliasFields } from '../../services/identity/entity-aliases.ts';
import {
  entityAliasData,
  EntityAliasInfo,
  entityAliasInfo,
  listedWith,
  listing,
  ReadEntityAlias,
} from '../../services/identity/identity-data.ts';
import { Type, type Static } from 'typebox';
import type { IdentityStore } from '../../services/identity/identity-store.ts';

const aliasFields = {
  name: f.string('Name by which the login method knows the entity.'),
  mount_accessor: f.string('Accessor of the login method.'),
  canonical_id: f.string('Id of the entity.', { aliases: ['entity_id'] }),
  custom_metadata: f.keyValues('Free key-value pairs; policy templates can name them.'),
} as const;

interface AliasBody {
  readonly name?: string | undefined;
  readonly mount_accessor?: string | undefined;
  readonly canonical_id?: string | undefined;
  readonly custom_metadata?: Readonly<Record<string, string>> | undefined;
}

function fieldsOf(data: AliasBody): AliasFields {
  return { name: data.name, mountAccessor: data.mount_accessor, canonicalId: data.canonical_id, customMetadata: data.custom_metadata };
}

const Saved = orNoContent(Type.Object({ canonical_id: Type.String(), id: Type.String() }));

export function entityAliasPaths(store: IdentityStore): AnyPath[] {
  const { entityAliases, mounts } = store;
  const save = async (id: string | undefined, data: AliasBody): Promise<{ data: Static<typeof Saved> } | undefined> => {
    const saved = await entityAliases.save(id || undefined, fieldsOf(data));
    return saved && { data: { canonical_id: saved.canonicalId, id: saved.id } };
  };

  return [
    path('entity-alias', {
      synopsis: 'Create or update an entity alias.',
      description: 'With an id that alias is changed; else the one of that mount and name, which is created when there is none.',
      fields: { id: f.string('Id of the alias to change.'), ...aliasFields },
    }).update({ summary: 'Create or update an entity alias', response: Saved, handle: async ({ data }) => save(data.id, data) }),

    path('entity-alias/id', {
      synopsis: 'Entity aliases by id.',
      description: 'Lists the ids of all entity aliases.',
      fields: pageFields,
    }).list({
      summary: 'List entity aliases',
      response: listedWith(EntityAliasInfo),
      handle: async ({ data }) =>
        listing(
          (await entityAliases.list(boundsOf(data))).map(({ canonicalId, alias }) => [
            alias.id,
            entityAliasInfo(mounts, canonicalId, alias),
          ]),
        ),
    }),

    path('entity-alias/id/{id}', {
      synopsis: 'One entity alias by its id.',
      description: 'Reads, changes or removes an alias. Only what is sent changes.',
      fields: { id: f.name('Id of the alias.'), ...aliasFields },
    })
      .read({
        summary: 'Read an entity alias',
        response: ReadEntityAlias,
        handle: async ({ data }) => {
          const found = await entityAliases.get(data.id);
          return found && { data: { ...entityAliasData(mounts, found.canonicalId, found.alias), namespace_id: 'root' } };
        },
      })
      .update({ summary: 'Update an entity alias', response: Saved, handle: async ({ data }) => save(data.id, data) })
      .delete({
        summary: 'Delete an entity alias',
        response: NoContent,
        handle: async ({ data }) => {
          await entityAliases.remove(data.id);
          return undefined;
        },
      }),
  ];
}
