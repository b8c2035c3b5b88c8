import { NativeSelect, Title } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { issuesByWrite, type FoundPath } from '../../api/engine-paths.ts';
import { send, type Answer } from '../../api/send.ts';
import { PathForm } from '../../parts/form/path-form.tsx';

interface WriteFormProps {
  readonly mount: string;
  readonly address: string;
  readonly path: FoundPath;
  /** Undefined where nothing is stored yet, and where a write changes nothing that is stored. */
  readonly stored: Readonly<Record<string, unknown>> | undefined;
  /** A write changes what a read of the path shows. */
  readonly changes: boolean;
  readonly done: (answer: Answer) => void;
}

const WRAPS = [
  { value: '', label: 'Show it here, once' },
  { value: '5m', label: 'As a link that opens once, within 5 minutes' },
  { value: '30m', label: 'As a link that opens once, within 30 minutes' },
  { value: '4h', label: 'As a link that opens once, within 4 hours' },
  { value: '1d', label: 'As a link that opens once, within a day' },
];

/** Sends what was touched. A credential is shown, or wrapped for somebody else. */
export function WriteForm({ mount, address, path, stored, changes, done }: WriteFormProps) {
  const [wrapTtl, setWrapTtl] = useState('');
  const at = apiPath(mount, address);
  const issuing = issuesByWrite(path);
  return (
    <section aria-labelledby="write-title">
      <Title order={2} size="h4" id="write-title" mb="sm">
        {path.item.post!.summary.replace(/\.$/, '')}
      </Title>
      <PathForm
        path={at}
        stored={stored}
        submit={issuing ? 'Issue' : changes ? 'Save' : 'Do it'}
        saved={changes ? 'Saved.' : 'Done.'}
        needs={{ path: `${mount}/${address}`, need: ['update', 'create'] }}
        stale={[at, apiPath(mount, address.split('/').slice(0, -1).join('/')), ...(issuing ? ['sys/leases'] : [])]}
        send={async (body) => send('POST', at, { body, ...(wrapTtl === '' ? {} : { wrapTtl }) })}
        done={done}
      >
        {issuing && (
          <NativeSelect
            label="How it is handed over"
            data={WRAPS}
            value={wrapTtl}
            onChange={({ currentTarget }) => setWrapTtl(currentTarget.value)}
          />
        )}
      </PathForm>
    </section>
  );
}
