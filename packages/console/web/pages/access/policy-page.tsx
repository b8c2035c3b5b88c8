import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { PolicyEditor } from './policy-editor.tsx';
import type { SavedPolicy } from './saved-policy.ts';

/** A policy: its text, what is wrong with it, what a draft would allow, and who has it. */
export default function PolicyPage() {
  const { params } = usePlace();
  const name = params.name ?? '';
  const policy = useRead<SavedPolicy>(apiPath('sys/policies/acl', name));
  if (policy.data) return <PolicyEditor key={name} saved={policy.data.data} start={policy.data.data.policy} />;
  return (
    <Page title={name}>
      <Loaded query={policy}>{() => null}</Loaded>
    </Page>
  );
}
