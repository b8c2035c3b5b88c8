import { useRead } from '../../api/queries.ts';
import { PathForm } from '../../parts/form/path-form.tsx';

interface Mounted {
  readonly accessor: string;
  readonly type: string;
}

interface AliasFormProps {
  readonly of: 'entity' | 'group';
  readonly canonicalId: string;
  readonly done: () => void;
}

/** Adds the name by which a login method knows somebody, or a group. */
export function AliasForm({ of, canonicalId, done }: AliasFormProps) {
  const mounts = useRead<{ auth: Readonly<Record<string, Mounted>> }>('sys/internal/ui/mounts');
  const accessors = Object.entries(mounts.data?.data.auth ?? {})
    .filter(([, { type, accessor }]) => type !== 'token' && accessor !== undefined)
    .map(([path, { accessor, type }]) => ({ value: accessor, label: `auth/${path} (${type})` }));
  return (
    <PathForm
      path={`identity/${of}-alias`}
      id={`alias of ${canonicalId}`}
      first={['name', 'mount_accessor']}
      without={['id', 'canonical_id']}
      begin={{ canonical_id: canonicalId }}
      choices={{ mount_accessor: accessors }}
      shape={({ schema, variant }) => ({ variant, schema: { ...schema, required: ['name', 'mount_accessor'] } })}
      submit="Add"
      stale={['identity']}
      done={done}
    />
  );
}
