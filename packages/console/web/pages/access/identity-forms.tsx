import { apiPath } from '../../api/api-path.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { PathForm } from '../../parts/form/path-form.tsx';
import type { FormValues } from '../../parts/form/form-values.ts';

const FIRST = ['name', 'policies', 'metadata', 'disabled'];

interface EditDialogProps {
  readonly of: 'entity' | 'group';
  readonly record: FormValues & { readonly id: string; readonly name: string };
  readonly opened: boolean;
  readonly close: () => void;
}

/** Changes an entity or a group. Of an external group, logins fill in the members. */
export function EditDialog({ of, record, opened, close }: EditDialogProps) {
  const path = apiPath('identity', of, 'id', record.id);
  return (
    <Dialog title={`Edit ${record.name}`} opened={opened} onClose={close}>
      <PathForm
        path={path}
        stored={record}
        first={FIRST}
        without={['type', 'member_entity_ids', 'member_group_ids']}
        submit="Save"
        needs={{ path: `identity/${of}/id/${record.id}`, need: 'update' }}
        stale={['identity']}
        done={close}
        onCancel={close}
      />
    </Dialog>
  );
}

const TYPES = [
  { value: 'internal', label: 'named here (internal)' },
  { value: 'external', label: 'filled in by logins (external)' },
];

interface NewDialogProps {
  readonly of: 'entity' | 'group';
  readonly opened: boolean;
  readonly close: () => void;
  /** Undefined where the server made nothing new. */
  readonly made: (id: string | undefined) => void;
}

/** A new entity, or a new group. */
export function NewDialog({ of, opened, close, made }: NewDialogProps) {
  return (
    <Dialog title={`New ${of}`} opened={opened} onClose={close}>
      <PathForm
        path={`identity/${of}`}
        first={of === 'group' ? ['name', 'type', 'policies', 'metadata'] : FIRST}
        without={['id', 'member_entity_ids', 'member_group_ids']}
        choices={{ type: TYPES }}
        submit="Create"
        needs={{ path: `identity/${of}`, need: 'update' }}
        stale={[`identity/${of}`]}
        done={({ data }) => made(typeof data.id === 'string' ? data.id : undefined)}
      />
    </Dialog>
  );
}
