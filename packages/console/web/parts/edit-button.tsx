import { ActionButton } from './action-button.tsx';
import { useGo } from './place.ts';

interface EditButtonProps {
  /** What a save writes, as people write it: `db/roles/report`. */
  readonly path: string;
  /** The page of the form. */
  readonly to: string;
  readonly params: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string>>;
  readonly label?: string;
}

/** Goes to the form of a thing. */
export function EditButton({ path, to, params, search, label = 'Edit' }: EditButtonProps) {
  const go = useGo();
  return (
    <ActionButton variant="default" needs={{ path, need: 'update' }} onClick={() => go(to, params, search)}>
      {label}
    </ActionButton>
  );
}
