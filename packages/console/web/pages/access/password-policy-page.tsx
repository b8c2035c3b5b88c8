import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlace } from '../../parts/place.ts';
import { PasswordPolicyEditor } from './password-policy-editor.tsx';

/** A password policy: its text, and a sample of what it makes. */
export default function PasswordPolicyPage() {
  const name = usePlace().params.name ?? '';
  const policy = useRead<{ policy: string }>(apiPath('sys/policies/password', name));
  if (policy.data) return <PasswordPolicyEditor key={name} name={name} start={policy.data.data.policy} />;
  return (
    <Page title={name}>
      <Loaded query={policy}>{() => null}</Loaded>
    </Page>
  );
}
