import { ApiError } from '../../api/api-error.ts';
import { useRight } from '../../api/rights.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { useOwner } from '../../parts/use-draft.ts';
import { BlindEdit } from './blind-edit.tsx';
import { rowsOf } from './edit-row.ts';
import { dataPath, lastOf } from './kv-mount.ts';
import { crumbsTo, WithKvMount } from './kv-page.tsx';
import { leavesOf } from './leaves.ts';
import { SecretEditor } from './secret-editor.tsx';
import { useSecret, type SecretPart } from './secret.ts';
import { formOf } from './unsaved.ts';

/** Changes a secret, or goes back to an old version of it. */
export default function EditPage() {
  const { params, search } = usePlace();
  const secret = params.rest ?? '';
  const from = /^\d+$/.test(search.from ?? '') ? Number(search.from) : undefined;
  return (
    <WithKvMount path={params.mount ?? ''}>
      {(mount) => (
        <Page
          title={`Edit ${lastOf(secret)}`}
          crumbs={[
            ...crumbsTo(mount, secret),
            <To to="/kv/$mount/show/$" params={{ mount: mount.path, rest: secret }}>
              {lastOf(secret)}
            </To>,
          ]}
        >
          <Edit key={`${mount.path}/${secret}`} mount={mount} secret={secret} from={from} />
        </Page>
      )}
    </WithKvMount>
  );
}

interface EditProps extends SecretPart {
  readonly from: number | undefined;
}

function Edit(props: EditProps) {
  const owner = useOwner();
  return owner === undefined ? null : <EditOf {...props} />;
}

function EditOf({ mount, secret, from }: EditProps) {
  const current = useSecret(mount, secret);
  const old = useSecret(mount, secret, from);
  const form = { mount, secret, form: formOf(mount, secret) };
  const mayWrite = useRight({ path: dataPath(mount, secret), need: ['patch', 'update', 'create'] });
  if (current.error instanceof ApiError && current.error.status === 403 && mayWrite === 'yes')
    return <BlindEdit mount={mount} secret={secret} />;
  return (
    <Loaded query={current}>
      {(read) => (
        <Loaded query={old}>
          {(source) => (
            <SecretEditor
              {...form}
              begin={{
                rows: rowsOf(leavesOf(source.data ?? {})),
                json: undefined,
                base: leavesOf(read.data ?? {}),
                // Of the values that were read: the version that is current by now may be another.
                version: read.facts?.version ?? 0,
              }}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}
