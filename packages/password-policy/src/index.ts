export { generatePassword } from './generate.ts';
export { parsePasswordPolicy } from './parse-policy.ts';
export { defaultPasswordPolicy, isUnsatisfiable, passwordPolicy } from './policy.ts';
export type { PasswordPolicy, PasswordRule } from './policy.ts';
export { PasswordGenerationError, PasswordPolicyError } from './policy-error.ts';
