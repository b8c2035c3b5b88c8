import { PasswordPolicyEditor } from './password-policy-editor.tsx';

const EXAMPLE = `length = 24

rule "charset" {
  charset   = "abcdefghijklmnopqrstuvwxyz"
  min-chars = 1
}
rule "charset" {
  charset   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
  min-chars = 1
}
rule "charset" {
  charset   = "0123456789"
  min-chars = 1
}
`;

/** A password policy that does not exist yet. */
export default function NewPasswordPolicyPage() {
  return <PasswordPolicyEditor name={undefined} start={EXAMPLE} />;
}
