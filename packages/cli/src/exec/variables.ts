import { Failure } from '../failure.ts';
import { printJson, type JsonRecord } from '../json.ts';
import type { WantedSecret } from './wanted-secret.ts';

/** Variables by which a shell, a loader or an interpreter runs other code: a field must not become one by its name alone. */
const LOADING =
  /^(LD_\w+|DYLD_\w+|GLIBC_TUNABLES|GCONV_PATH|PATH|IFS|ENV|BASH_ENV|PROMPT_COMMAND|SHELLOPTS|NODE_OPTIONS|NODE_PATH|PYTHON(PATH|HOME|STARTUP)|PERL5(LIB|OPT)|RUBY(LIB|OPT)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS)$/;

/** `db-password` becomes `DB_PASSWORD`; what is no letter or digit becomes `_`, and a name never begins with a digit. */
export function variableName(field: string): string {
  const name = field.toUpperCase().replace(/[^A-Z0-9_]/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

/** The environment variables of a secret's data. Values that are no texts are JSON. @throws Failure for a field that is missing or cannot be a variable */
export function variablesOf(wanted: WantedSecret, data: JsonRecord, prefix: string): Record<string, string> {
  const { field, variable, text } = wanted;
  if (field !== undefined && !Object.hasOwn(data, field)) throw new Failure(`-secret=${text}: the secret has no field "${field}"`);
  const fields = field === undefined ? Object.keys(data) : [field];
  const variables: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const name of fields) {
    const target = variable ?? prefix + variableName(name);
    if (target in variables)
      throw new Failure(`-secret=${text}: two fields become the variable ${target}: name one of them, as in NAME=path#field`);
    if (variable === undefined && LOADING.test(target))
      throw new Failure(
        `-secret=${text}: the field "${name}" would set ${target}, which changes how programs run: use -prefix, or ask for it as ${target}=path#field`,
      );
    const value = data[name];
    const shown = typeof value === 'string' ? value : printJson(value, 0);
    if (shown.includes('\0'))
      throw new Failure(`-secret=${text}: the field "${name}" holds a zero byte, which no environment variable can`);
    variables[target] = shown;
  }
  return variables;
}
