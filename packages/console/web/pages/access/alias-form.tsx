import { useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { FieldsForm } from './fields-form.tsx';

interface Mounted {
  readonly accessor: string;
  readonly type: string;
}

/** Adds the name by which a login method knows somebody, or a group. */
export function AliasForm({
  of,
  canonicalId,
  done,
}: {
  readonly of: 'entity' | 'group';
  readonly canonicalId: string;
  readonly done: () => Promise<void>;
}) {
  const mounts = useRead<{ auth: Readonly<Record<string, Mounted>> }>('sys/internal/ui/mounts');
  const choices = Object.entries(mounts.data?.data.auth ?? {})
    .filter(([, { type, accessor }]) => type !== 'token' && accessor !== undefined)
    .map(([path, { accessor, type }]) => ({ value: accessor, label: `auth/${path} (${type})` }));
  return (
    <FieldsForm
      key={choices.length}
      fields={[
        { name: 'name', label: of === 'entity' ? 'Name at the login method' : 'Name of the group there', kind: 'text', required: true },
        {
          name: 'mount_accessor',
          label: 'Login method',
          kind: 'choice',
          required: true,
          choices: [{ value: '', label: 'Choose' }, ...choices],
        },
      ]}
      submit="Add"
      act={async (fields) => {
        await send('POST', `identity/${of}-alias`, { body: { ...fields, canonical_id: canonicalId } });
        await done();
      }}
    />
  );
}
