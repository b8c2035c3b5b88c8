/** Environment variables, or a test's stand-in for them. */
export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIXES = ['STRONGROOM_', 'BAO_', 'VAULT_'] as const;

/** Reads `NAME` under our own prefix, then the two that existing users have set. Empty counts as unset. */
export function setting(env: Environment, name: string): string | undefined {
  return settingSource(env, name)?.value;
}

/** As `setting`, with the full name of the variable that was found. */
export function settingSource(env: Environment, name: string): { readonly variable: string; readonly value: string } | undefined {
  for (const prefix of PREFIXES) {
    const value = env[prefix + name];
    if (value !== undefined && value !== '') return { variable: prefix + name, value };
  }
  return undefined;
}
