import type { ReactNode } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';
import type { DeclaredBody } from '../../api/use-declared-body.ts';
import type { FormValues } from './form-values.ts';
import { PathForm, type PathFormProps } from './path-form.tsx';

interface NamedFormProps extends Omit<PathFormProps, 'path' | 'id' | 'needs' | 'send' | 'done' | 'beside'> {
  /** `db/roles`, as people write it. */
  readonly list: string;
  /** Of a thing that is there; undefined for a new one, whose name is a field. */
  readonly known: string | undefined;
  readonly beside?: ((values: FormValues, touched: boolean, name: string) => ReactNode) | undefined;
  readonly done: (name: string) => void;
}

/** No field of the API has a colon. */
const NAME = ':name';

/** A form of one thing of a list: of a new one with its name. */
export function NamedForm({ list, known, shape = (body) => body, beside, done, ...form }: NamedFormProps) {
  const isNew = known === undefined;
  const nameOf = (values: FormValues): string => known ?? String(values[NAME] ?? '').trim();
  return (
    <PathForm
      {...form}
      path={apiPath(list, known ?? 'new')}
      id={isNew ? `new ${list}` : apiPath(list, known)}
      shape={(body) => (isNew ? withName(shape(body)) : shape(body))}
      needs={(values) => (nameOf(values) === '' ? undefined : { path: `${list}/${nameOf(values)}`, need: isNew ? 'create' : 'update' })}
      send={async (values) => send('POST', apiPath(list, nameOf(values)), { body: withoutName(values) })}
      done={(_answer, values) => done(nameOf(values))}
      beside={beside && ((values, touched) => beside(withoutName(values), touched, nameOf(values)))}
    />
  );
}

function withName({ schema, variant }: DeclaredBody): DeclaredBody {
  const properties = { [NAME]: { type: 'string', title: 'Name' }, ...schema.properties };
  return { variant, schema: { ...schema, properties, required: [NAME, ...(schema.required ?? [])] } };
}

function withoutName({ [NAME]: _name, ...values }: FormValues): FormValues {
  return values;
}
