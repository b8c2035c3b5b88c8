import { fieldSpec, path, type AnyPath, type LoginFlow } from '@strongroom/engine-sdk';
import { Type, type Static, type TSchema } from 'typebox';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { formSchema } from '../../services/documents/openapi-schema.ts';
import type { MountTable } from '../../services/mounts/mount-table.ts';

const Method = Type.Object({
  path: Type.String(),
  type: Type.String(),
  description: Type.String(),
  flow: Type.Union([Type.Literal('form'), Type.Literal('oidc'), Type.Literal('token'), Type.Literal('cert')]),
  login: Type.String(),
  form: Type.Object({
    type: Type.Literal('object'),
    properties: Type.Record(Type.String(), Type.Unknown()),
    required: Type.Array(Type.String()),
  }),
});
const Methods = Type.Object({ methods: Type.Array(Method) });
type LoginMethod = Static<typeof Method>;

/** `sys/internal/ui/login-methods`: what the console's login page offers. */
export function loginMethodPaths({ mounts }: { readonly mounts: Pick<MountTable, 'list'> }): AnyPath[] {
  return [
    path('internal/ui/login-methods', {
      synopsis: 'The login methods that anybody may see, with their forms.',
      description:
        'Auth mounts with listing_visibility unauth. login is the path to write to, where {name} stands for the field of that name; form describes all fields. Open to everybody.',
      access: 'unauthenticated',
      fields: {},
    }).read({
      summary: 'Lists login methods.',
      response: Methods,
      handle: async () => ({ data: { methods: mounts.list('auth').flatMap((mount) => methodOf(mount) ?? []) } }),
    }),
  ];
}

/** Undefined for a mount that is hidden, or whose engine does not run or takes no logins. */
function methodOf(mount: Mount): LoginMethod | undefined {
  if (mount.record.config.listing_visibility !== 'unauth') return undefined;
  const shown = { path: mount.path.slice('auth/'.length), type: mount.type, description: mount.record.description };
  if (mount.type === 'token') return { ...shown, flow: 'token', login: 'auth/token/lookup-self', form: NO_FIELDS };
  const login = mount.engine?.paths.find(({ about, operations }) => about.login !== undefined && operations.update);
  if (!login || mount.quarantine !== undefined) return undefined;
  const flow: LoginFlow = mount.package?.loginFlow ?? 'form';
  return { ...shown, flow, login: `${mount.path}${login.pattern.replace(/\{(\w+):\w+\}/g, '{$1}')}`, form: formOf(login) };
}

const NO_FIELDS: LoginMethod['form'] = { type: 'object', properties: {}, required: [] };

function formOf({ about }: AnyPath): LoginMethod['form'] {
  const fields = Object.entries(about.fields as Record<string, TSchema>).filter(([, schema]) => !fieldSpec(schema).deprecated);
  return { required: [], ...(formSchema({ properties: Object.fromEntries(fields) }) as Omit<LoginMethod['form'], 'required'>) };
}
