import {
  type AnyPath,
  BadRequest,
  type Clock,
  type EngineResponse,
  f,
  InvalidRequest,
  ListedKeys,
  NoContent,
  NotFound,
  pageFields,
  path,
  type Plugin,
  type RefusedPlugin,
  slicePage,
  systemClock,
  Timestamp,
  UnsupportedOperation,
} from '@strongroom/engine-sdk';
import { Type, type TObject, type TSchema } from 'typebox';
import { alone, type Siblings } from '../../kernel/siblings.ts';
import { formSchema } from '../../services/documents/openapi-schema.ts';
import { PluginReloads } from './plugin-reloads.ts';
import { API_COMPATIBLE_VERSION } from '../../kernel/version.ts';

export interface PluginPathDeps {
  readonly catalogue: { list(): readonly Plugin[]; refused(): readonly RefusedPlugin[]; isBuiltIn(plugin: Plugin): boolean };
  /** Closes and builds again what a plugin serves, or these mounts. @throws BadRequest for an unknown mount */
  reload(what: { plugin?: string; mounts?: readonly string[] }): Promise<void>;
  /** Has the other servers of the store do the same; false where there are none. */
  reloadOthers?(id: string, what: { plugin?: string; mounts?: readonly string[] }): Promise<boolean>;
  readonly clock?: Clock;
  readonly siblings?: Siblings;
}

/** Kinds that clients know from Vault and OpenBao: always there, even when empty. */
const usualKinds = ['auth', 'database', 'secret'];

const semanticVersion = /^v?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?(\+([0-9A-Za-z.-]+))?$/;

const typeField = f.name('Kind of plugin: auth, database, secret, …');
const nameField = f.name('Name of the plugin, as mounts and connections write it.');

const described = {
  name: Type.String(),
  version: Type.String(),
  builtin: Type.Boolean(),
  deprecation_status: Type.String(),
  refused: Type.Optional(Type.String({ description: 'Why it cannot be used.' })),
};
const Catalogue = Type.Object(
  { detailed: Type.Array(Type.Object({ type: Type.String(), ...described })) },
  { additionalProperties: Type.Array(Type.String()), description: 'Names by kind, and all plugins in `detailed`.' },
);
const OnePlugin = Type.Object({
  ...described,
  schema: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'JSON schema of what operators configure of it: the parameters of a database connection, of a destination.',
    }),
  ),
  args: Type.Null(),
  command: Type.String(),
  sha256: Type.String(),
  oci: Type.Boolean(),
  declarative: Type.Boolean(),
});
const Reload = Type.Object({ reload_id: Type.String() });
const ReloadStatus = Type.Object({
  reload_id: Type.String(),
  results: Type.Record(Type.String(), Type.Object({ timestamp: Timestamp, error: Type.String() })),
});

/** `sys/plugins`. Plugins are npm packages that the server's configuration lists, so the catalogue is read-only. */
export function pluginPaths({
  catalogue,
  reload,
  reloadOthers = async () => false,
  clock = systemClock,
  siblings = alone,
}: PluginPathDeps): AnyPath[] {
  const reloads = new PluginReloads(reload, clock, siblings);

  /** Those that cannot be used too: an operator must see them. */
  const all = (): Plugin[] => [...catalogue.list(), ...catalogue.refused().map(({ plugin }) => plugin)];
  const ofKind = (kind: string): Plugin[] =>
    all()
      .filter((plugin) => plugin.kind === kind)
      .sort(byName);
  const namesOf = (kind: string): string[] => [...new Set(ofKind(kind).map((plugin) => plugin.name))];
  const kinds = (): string[] => [...new Set([...usualKinds, ...all().map((plugin) => plugin.kind)])].sort();
  const find = (kind: string, name: string): Plugin | undefined => all().find((plugin) => plugin.kind === kind && plugin.name === name);
  /** Clients take what runs inside the server, and not as a program of its own, for builtin: here it is what came with the server. */
  const shownVersion = (plugin: Plugin): string =>
    `v${plugin.version ?? API_COMPATIBLE_VERSION}${catalogue.isBuiltIn(plugin) ? '+builtin.strongroom' : ''}`;
  const detail = (plugin: Plugin) => ({
    type: plugin.kind,
    name: plugin.name,
    version: shownVersion(plugin),
    builtin: catalogue.isBuiltIn(plugin),
    deprecation_status: 'supported',
  });
  const refusal = (plugin: Plugin): { refused?: string } => {
    const found = catalogue.refused().find((entry) => entry.plugin === plugin);
    return found ? { refused: found.reason } : {};
  };
  /** Nothing of a plugin that cannot be used is looked at. */
  const schemaOf = (plugin: Plugin): { schema?: Readonly<Record<string, unknown>> } =>
    isForm(plugin.connection) && catalogue.list().includes(plugin) ? { schema: formSchema(plugin.connection) } : {};
  const requireKind = (kind: string): string => {
    if (!kinds().includes(kind))
      throw new BadRequest(`${JSON.stringify(kind)} is not a supported plugin type; must be one of ${kinds().join(', ')}`);
    return kind;
  };

  async function reloaded(
    what: { plugin?: string; mounts?: readonly string[] },
    scope: string,
  ): Promise<EngineResponse<{ reload_id: string }>> {
    if (scope !== '' && scope !== 'global') throw new BadRequest("reload scope must be omitted or 'global'");
    const id = await reloads.run(what);
    const others = scope === 'global' && (await reloadOthers(id, what));
    return { data: { reload_id: id }, ...(others ? { status: 202 } : {}) };
  }

  return [
    path('plugins/catalog', {
      synopsis: 'The plugins of this server.',
      description: 'Names by kind, and every plugin with its version. Plugins are npm packages that the configuration lists.',
      fields: {},
    }).read({
      summary: 'List all plugins',
      response: Catalogue,
      handle: async () => ({
        data: {
          ...Object.fromEntries(kinds().map((kind) => [kind, namesOf(kind)])),
          detailed: kinds().flatMap((kind) => ofKind(kind).map((plugin) => ({ ...detail(plugin), ...refusal(plugin) }))),
        },
      }),
    }),

    path('plugins/catalog/{type}', {
      synopsis: 'The plugins of one kind.',
      description: 'Lists their names.',
      fields: { type: typeField, ...pageFields },
    })
      .list({
        summary: 'List the plugins of one kind',
        response: ListedKeys,
        handle: async ({ data }) => {
          const keys = slicePage(namesOf(requireKind(data.type)), data, (name) => name);
          return keys.length === 0 ? undefined : { data: { keys } };
        },
      })
      .read({
        summary: 'Answers older clients that name no kind',
        response: NoContent,
        handle: async ({ data }) => {
          if (kinds().includes(data.type)) throw new UnsupportedOperation();
          return {
            data: null,
            warnings: [`Deprecated API endpoint, cannot read plugin information from catalog for ${JSON.stringify(data.type)}`],
          };
        },
      }),

    path('plugins/catalog/{type}/{name}', {
      synopsis: 'One plugin.',
      description: 'What the catalogue knows of it. Writing is refused: what is served is what the configuration lists.',
      fields: {
        type: typeField,
        name: nameField,
        version: f.string('Its version, where several are meant.', { default: '' }),
        sha256: f.string('Refused: digest of a program.', { default: '', aliases: ['sha_256'] }),
        command: f.string('Refused: name of a program.', { default: '' }),
        args: f.strings('Refused: arguments of a program.', { default: [] }),
        env: f.strings('Refused: environment of a program.', { default: [] }),
      },
    })
      .read({
        summary: 'Read about a plugin',
        response: OnePlugin,
        handle: async ({ data }) => {
          const named = ofKind(requireKind(data.type)).filter((plugin) => plugin.name === data.name);
          const plugin = data.version === '' ? named[0] : named.find((candidate) => shownVersion(candidate) === data.version);
          if (!plugin) return undefined;
          const { name, version, builtin, deprecation_status } = detail(plugin);
          return {
            data: {
              name,
              args: null,
              command: '',
              sha256: '',
              builtin,
              version,
              oci: false,
              declarative: true,
              deprecation_status,
              ...refusal(plugin),
              ...schemaOf(plugin),
            },
          };
        },
      })
      .update({
        summary: 'Refuses to register a program',
        response: NoContent,
        handle: async ({ data }) => {
          requireKind(data.type);
          checkVersion(data.version);
          if (data.sha256 === '') throw new BadRequest('missing SHA-256 value');
          if (data.command === '') throw new BadRequest('missing command value');
          if (!/^(?:[\da-f]{2})*$/i.test(data.sha256)) throw new BadRequest('Could not decode SHA-256 value from Hex');
          throw new InvalidRequest(
            'could not set plugin, plugin directory is not configured: plugins are packages that the configuration lists',
          );
        },
      })
      .delete({
        summary: 'Refuses to remove a plugin that the configuration lists',
        response: NoContent,
        handle: async ({ data }) => {
          if (find(requireKind(data.type), data.name)) {
            throw new BadRequest(`plugin ${JSON.stringify(data.name)} is listed by the configuration; remove it there`);
          }
          return undefined;
        },
      }),

    path('plugins/reload/backend', {
      synopsis: 'Reload a plugin or mounts.',
      description:
        "Closes the engines concerned and builds them again. Leases, tokens and settings stay. With scope 'global' the other servers of the store do the same, and 202 says that they may not be done.",
      fields: {
        plugin: f.string('Reload all mounts of this plugin.', { default: '' }),
        mounts: f.commaStrings('Reload these mounts.', { default: [] }),
        scope: f.string("Empty, or 'global' for every node.", { default: '' }),
      },
    }).update({
      summary: 'Reload a plugin or mounts',
      response: Reload,
      answers: { 202: Reload },
      handle: async ({ data: { plugin, mounts, scope } }) => {
        if (plugin === '' && mounts.length === 0) throw new BadRequest('plugin or mounts must be provided');
        if (plugin !== '' && mounts.length > 0) throw new BadRequest('plugin and mounts cannot be set at the same time');
        if (plugin === '') return reloaded({ mounts }, scope);
        if (!catalogue.list().some((known) => known.name === plugin))
          throw new BadRequest(`plugin not found in the catalog: ${JSON.stringify(plugin)}`);
        return reloaded({ plugin }, scope);
      },
    }),

    path('plugins/reload/backend/status', {
      synopsis: 'How a reload went.',
      description: 'Kept for the latest reloads of this server.',
      fields: { reload_id: f.string('What the reload answered.', { default: '' }) },
    }).read({
      summary: 'Read how a reload went',
      response: ReloadStatus,
      handle: async ({ data }) => {
        if (data.reload_id === '') throw new BadRequest('reload_id is required');
        const outcome = await reloads.outcome(data.reload_id);
        if (!outcome) throw new NotFound();
        const results = { [outcome.node]: { timestamp: outcome.timestamp, error: outcome.error } };
        return { data: { reload_id: data.reload_id, results } };
      },
    }),

    path('plugins/reload/{type}/{name}', {
      synopsis: 'Reload a plugin, named with its kind.',
      description: 'As plugins/reload/backend.',
      fields: { type: typeField, name: nameField, scope: f.string("Empty, or 'global' for every node.", { default: '' }) },
    }).update({
      summary: 'Reload a plugin, named with its kind',
      response: Reload,
      answers: { 202: Reload },
      handle: async ({ data }) => {
        if (!find(requireKind(data.type), data.name)) throw new BadRequest(`plugin not found in the catalog: ${JSON.stringify(data.name)}`);
        return reloaded({ plugin: data.name }, data.scope);
      },
    }),
  ];
}

function checkVersion(version: string): void {
  if (version === '') return;
  const parts = semanticVersion.exec(version);
  if (!parts) throw new BadRequest(`version ${JSON.stringify(version)} is not a valid semantic version: malformed version: ${version}`);
  if (parts[4]?.split('.').includes('builtin')) {
    throw new BadRequest(`version ${JSON.stringify(version)} is not allowed because 'builtin' is a reserved metadata identifier`);
  }
}

function byName(a: Plugin, b: Plugin): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function isForm(schema: TSchema | undefined): schema is TObject {
  return typeof (schema as { properties?: unknown } | undefined)?.properties === 'object';
}
