import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import type { DeclaredBody } from '../../api/use-declared-body.ts';
import { asText, type FormValues } from '../../parts/form/form-values.ts';
import { PathForm } from '../../parts/form/path-form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { PLACES, STALE, type Kind } from './mounts.ts';

interface Plugin {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly refused?: string;
}

/** Mounts that every server has. */
const BUILT_IN = new Set(['system', 'identity', 'cubbyhole', 'token', 'sync']);

/** A new secrets engine or login method, from the server's catalogue of plugins. */
export default function EnablePage() {
  const kind: Kind = usePlace().params.kind === 'auth' ? 'auth' : 'secret';
  const catalogue = useRead<{ detailed: readonly Plugin[] }>('sys/plugins/catalog');
  return (
    <Page title={kind === 'auth' ? 'Enable a login method' : 'Enable a secrets engine'} crumbs={[<To to="/mounts">Mounts</To>]}>
      <Loaded query={catalogue}>
        {({ data }) => (
          <EnableForm
            kind={kind}
            plugins={data.detailed.filter(({ type, name, refused }) => type === kind && refused === undefined && !BUILT_IN.has(name))}
          />
        )}
      </Loaded>
    </Page>
  );
}

interface EnableFormProps {
  readonly kind: Kind;
  readonly plugins: readonly Plugin[];
}

function EnableForm({ kind, plugins }: EnableFormProps) {
  const go = useGo();
  const names = [...new Set(plugins.map(({ name }) => name))];
  return (
    <PathForm
      path={apiPath(PLACES[kind], 'new')}
      id={`enable ${kind}`}
      shape={withPlace}
      choices={{ type: names.map((value) => ({ value, label: value })) }}
      submit="Enable"
      needs={(values) => ({ path: `${PLACES[kind]}/${placeOf(values) || 'new'}`, need: ['create', 'update'] })}
      stale={STALE}
      send={async (values) => {
        const { [PLACE]: _place, ...body } = values;
        return send('POST', apiPath(PLACES[kind], placeOf(values)), { body });
      }}
      done={(_answer, values) => go('/mounts/$kind/$mount', { kind, mount: placeOf(values) })}
    />
  );
}

/** Where it is mounted: a part of the path, and no field of the body. */
const PLACE = ':path';

/** What an operator chooses of a new mount. */
function withPlace({ schema, variant }: DeclaredBody): DeclaredBody {
  const { type, description, options, config } = schema.properties ?? {};
  const path = { title: 'Path', type: 'string', description: 'Where it is reached, such as team/keys. Empty: by the name of its type.' };
  const properties = { type: { ...type, title: 'What' }, [PLACE]: path, description, options, config };
  const declared = Object.entries(properties).flatMap(([name, field]) => (field ? [[name, field] as const] : []));
  return { variant, schema: { type: 'object', properties: Object.fromEntries(declared), required: ['type'] } };
}

function placeOf({ type, [PLACE]: path }: FormValues): string {
  const typed = typeof path === 'string' ? path.trim() : '';
  return (typed === '' ? asText(type) : typed).replace(/^\/+|\/+$/g, '');
}
