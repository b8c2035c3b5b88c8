import { BadRequest, EngineError, f, mapConcurrently, NotFound, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { Associations } from './associations.ts';
import { typeField, type DestinationTypes } from './destination-types.ts';
import { placeOf, recordsIn } from './records.ts';

/** Secrets of one call. */
const MOST = 500;
/** Secrets that are read at a time. */
const CONCURRENCY = 8;

const Named = Type.Object({
  secret_name: Type.String(),
  linked: Type.Optional(Type.Boolean({ description: 'The secret is linked with this destination already.' })),
  remote_names: Type.Array(Type.String(), { description: 'One for each copy.' }),
  error: Type.Optional(Type.String({ description: 'Why it cannot be linked.' })),
});

/** `destinations/<type>/<name>/names`: how secrets would be named outside, before anybody links them. */
export function namesOutsidePath(host: EngineHost, types: DestinationTypes, associations: Associations): AnyPath {
  return path('destinations/{type}/{destination}/names', {
    synopsis: 'The names that secrets would get in a destination.',
    description: `Links nothing, and asks nothing outside. The caller must be able to read the secrets. At most ${MOST} secrets in one call.`,
    fields: {
      type: typeField(types),
      destination: f.name('Name of the destination.'),
      mount: f.string('Path of the mount that holds the secrets.'),
      secret_names: f.strings('Paths of the secrets in their mount.'),
    },
  }).update({
    summary: 'Shows how secrets would be named outside.',
    response: Type.Object({ secrets: Type.Array(Named) }),
    handle: async (req) => {
      const { mount, secret_names = [] } = req.data;
      const destination = await recordsIn(host.storage).destinations.get(placeOf({ type: req.data.type, name: req.data.destination }));
      if (!destination) types.of(req.data.type);
      if (!destination) throw new NotFound(`there is no destination ${req.data.type}/${req.data.destination}`);
      if (secret_names.length === 0) throw new BadRequest('secret_names: send at least one path');
      if (secret_names.length > MOST) throw new BadRequest(`secret_names: send at most ${MOST} paths`);
      const plugin = types.installed(destination.type);
      const secrets: Static<typeof Named>[] = [];
      await mapConcurrently([...secret_names.entries()], CONCURRENCY, async ([at, secret_name]) => {
        try {
          const { linked, names } = await associations.names(req, destination, plugin, { mount, secret_name });
          secrets[at] = { secret_name, linked, remote_names: [...names] };
        } catch (error) {
          if (!(error instanceof EngineError) || error.status >= 500) throw error;
          secrets[at] = { secret_name, remote_names: [], error: error.message };
        }
      });
      return { data: { secrets } };
    },
  });
}
