import { PolicyEditor } from './policy-editor.tsx';

const EXAMPLE = `# What holders of this policy may do.
path "secret/data/team/*" {
  capabilities = ["read"]
}
`;

/** A policy that does not exist yet. */
export default function NewPolicyPage() {
  return <PolicyEditor saved={undefined} start={EXAMPLE} />;
}
