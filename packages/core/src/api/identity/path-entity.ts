import { type AnyPath, BadRequest, boundsOf, f, ListedKeys, NoContent, orNoContent, pageFields, path } from '@strongroom/engine-sdk';
import type { EntityFields } from '../../services/identity/entities.ts';
import { EntityData, entityData, EntityInfo, entityInfo, listedWith, listing } from '../../services/identity/identity-data.ts';
import { Type, type Static } from 'typebox';
import { folded } from '../../services/identity/identity-records.ts';
import type { IdentityStore } from '../../services/identity/identity-store.ts';

const entityFields = {
  policies: f.commaStrings('Policies of every token of the entity, beside those of the token itself.'),
  metadata: f.keyValues('Free key-value pairs; policy templates can name them.'),
  disabled: f.bool('Refuse every token of the entity.'),
} as const;

const idField = f.name('Id of the entity.');
const nameField = f.name('Name of the entity; case does not matter.', { folds: folded });

const Saved = orNoContent(Type.Object({ aliases: Type.Null(), id: Type.String(), name: Type.String() }));

function fieldsOf(data: EntityFields, name: string | undefined): EntityFields {
  return { name: name || undefined, policies: data.policies, metadata: data.metadata, disabled: data.disabled };
}

export function entityPaths(store: IdentityStore): AnyPath[] {
  const { entities, mounts } = store;

  /** 204 for a change; what was created is shown. */
  const save = async (id: string | undefined, fields: EntityFields): Promise<{ data: Static<typeof Saved> } | undefined> => {
    const saved = await entities.save(id || undefined, fields);
    return saved.created ? { data: { aliases: null, id: saved.id, name: saved.name } } : undefined;
  };
  const read = async (id: string | undefined) => {
    const view = id === undefined ? undefined : await entities.view(id);
    return view && { data: entityData(mounts, view) };
  };

  return [
    path('entity', {
      synopsis: 'Create or update an entity.',
      description: 'With an id that entity is changed; else the one of that name, which is created when there is none.',
      fields: {
        id: f.string('Id of the entity to change.'),
        name: f.string('Name of the entity; one is made when left out.'),
        ...entityFields,
      },
    }).update({
      summary: 'Create or update an entity',
      response: Saved,
      handle: async ({ data }) => save(data.id, fieldsOf(data, data.name)),
    }),

    path('entity/id', {
      synopsis: 'Entities by id.',
      description: 'Lists the ids of all entities, with names and aliases.',
      fields: pageFields,
    }).list({
      summary: 'List entities by id',
      response: listedWith(EntityInfo),
      handle: async ({ data }) => listing((await entities.list(boundsOf(data))).map(([id, entity]) => [id, entityInfo(mounts, entity)])),
    }),

    path('entity/id/{id}', {
      synopsis: 'One entity by its id.',
      description: 'Reads, changes or removes an entity. Only what is sent changes.',
      fields: { id: idField, name: f.string('New name of the entity.'), ...entityFields },
    })
      .read({ summary: 'Read an entity by id', response: EntityData, handle: async ({ data }) => read(data.id) })
      .update({
        summary: 'Update an entity by id',
        response: Saved,
        handle: async ({ data }) => save(data.id, fieldsOf(data, data.name)),
      })
      .delete({
        summary: 'Delete an entity by id',
        response: NoContent,
        handle: async ({ data }) => {
          await entities.remove([data.id]);
          return undefined;
        },
      }),

    path('entity/name', { synopsis: 'Entities by name.', description: 'Lists the names of all entities.', fields: pageFields }).list({
      summary: 'List entities by name',
      response: ListedKeys,
      searched: true,
      handle: async ({ data }) => {
        const keys = await entities.names(boundsOf(data));
        return keys.length === 0 ? undefined : { data: { keys } };
      },
    }),

    path('entity/name/{name:all}', {
      synopsis: 'One entity by its name.',
      description: 'Reads, creates, changes or removes an entity.',
      fields: { name: nameField, ...entityFields },
    })
      .read({
        summary: 'Read an entity by name',
        response: EntityData,
        handle: async ({ data }) => read(await entities.idOfName(data.name)),
      })
      .update({
        summary: 'Create or update an entity by name',
        response: Saved,
        handle: async (req) => save(undefined, fieldsOf(req.data, req.verbatim['name'] ?? req.data.name)),
      })
      .delete({
        summary: 'Delete an entity by name',
        response: NoContent,
        handle: async ({ data }) => {
          const id = await entities.idOfName(data.name);
          if (id !== undefined) await entities.remove([id]);
          return undefined;
        },
      }),

    path('entity/batch-delete', {
      synopsis: 'Delete several entities.',
      description: 'Removes the entities of the given ids; ids that do not exist are passed over.',
      fields: { entity_ids: f.commaStrings('Ids of the entities to delete.', { default: [] }) },
    }).update({
      summary: 'Delete several entities',
      response: NoContent,
      handle: async ({ data }) => {
        if (data.entity_ids.length === 0) throw new BadRequest('missing entity ids to delete');
        await entities.remove(data.entity_ids);
        return undefined;
      },
    }),

    path('entity/merge', {
      synopsis: 'Merge entities into one.',
      description:
        'Moves the aliases, group memberships and MFA secrets of the given entities to another entity, and deletes the given entities. Their tokens get the policies ' +
        'of that entity; their own policies are dropped. A disabled entity can be merged only into another disabled entity.',
      fields: {
        from_entity_ids: f.commaStrings('Ids of the entities to merge from.', { default: [] }),
        to_entity_id: f.string('Id of the entity to merge into.', { default: '' }),
        conflicting_alias_ids_to_keep: f.commaStrings('Ids of the aliases to keep where two aliases are on the same mount.', {
          default: [],
        }),
        force: f.bool('If both entities have an MFA secret for a method, keep the secret of the entity to merge into.', { default: false }),
      },
    }).update({
      summary: 'Merge entities',
      response: NoContent,
      handle: async ({ data }) => {
        const { from_entity_ids: from, to_entity_id: to, conflicting_alias_ids_to_keep: keep, force } = data;
        await entities.merge({ from, to, keep, force });
        return undefined;
      },
    }),
  ];
}
