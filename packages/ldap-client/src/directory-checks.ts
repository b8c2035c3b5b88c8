import { BadRequest } from '@strongroom/engine-sdk';
import { compileTemplate, TemplateRenderError, TemplateSyntaxError, type Template } from '@strongroom/go-template';
import { isDn } from './dn.ts';
import { FilterSyntaxError, parseFilter } from './filter.ts';
import { checkServerUrls } from './server-urls.ts';
import type { DirectoryConfig } from './directory-record.ts';

type Check = (config: DirectoryConfig) => void;

/** Values that would be stored and then fail whatever uses them. */
const checks: ReadonlyMap<string, Check> = new Map<keyof DirectoryConfig, Check>([
  ['url', ({ url }) => void checkServerUrls(url)],
  ['userdn', ({ userdn }) => checkBase('userdn', userdn)],
  ['groupdn', ({ groupdn }) => checkBase('groupdn', groupdn)],
  ['userfilter', ({ userfilter }) => checkFilter('userfilter', userfilter)],
  ['groupfilter', ({ groupfilter }) => checkFilter('groupfilter', groupfilter)],
  ['groupattr', ({ groupattr }) => checkAttribute('groupattr', groupattr)],
  ['upndomain', ({ upndomain }) => checkDomain(upndomain)],
]);

/** @throws BadRequest for the first of these parameters that is invalid, with its name and the valid values. */
export function checkParameters(config: DirectoryConfig, parameters: Iterable<string>): void {
  for (const parameter of parameters) checks.get(parameter)?.(config);
}

/** What is wrong with parameters that an earlier version stored, a sentence for each; without those given, which a write has checked. */
export function storedProblems(config: DirectoryConfig, except: ReadonlySet<string>): string[] {
  const problems: string[] = [];
  for (const [parameter, check] of checks) {
    if (except.has(parameter)) continue;
    try {
      check(config);
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      problems.push(error.message);
    }
  }
  return problems;
}

/** Active Directory takes `<SID=…>`, `<GUID=…>` and `<WKGUID=…>` for names. */
function checkBase(parameter: 'userdn' | 'groupdn', name: string): void {
  if (isDn(name) || /^<(?:SID|GUID|WKGUID)=[^<>]+>$/i.test(name)) return;
  throw new BadRequest(`${parameter}: ${JSON.stringify(name)} is not a distinguished name; write one such as ou=people,dc=example,dc=org`);
}

/** @throws BadRequest naming the parameter, unless it is empty or the name of an attribute. */
export function checkAttribute(parameter: string, name: string): void {
  if (/^(?:(?:[A-Za-z][A-Za-z0-9_-]*|[0-9]+(?:\.[0-9]+)*)(?:;[A-Za-z0-9-]+)*)?$/.test(name)) return;
  throw new BadRequest(`${parameter}: ${JSON.stringify(name)} is not the name of an attribute; write one such as uid or memberOf`);
}

function checkDomain(domain: string): void {
  if (!/[@\\/,\s]/.test(domain)) return;
  throw new BadRequest(`upndomain: ${JSON.stringify(domain)} is not a domain; write the part after the @ alone, such as corp.example`);
}

const fields = { userfilter: ['UserAttr', 'Username'], groupfilter: ['UserDN', 'Username'] } as const;
const example = { UserAttr: 'cn', Username: 'name', UserDN: 'cn=name' };
const environment = { now: () => new Date(0), randomBytes: (count: number) => new Uint8Array(count) };

/** An empty filter is fine: the engine has a default, or does not search. */
function checkFilter(parameter: 'userfilter' | 'groupfilter', text: string): void {
  if (text === '') return;
  try {
    const template = compileTemplate(text, { name: 'queryTemplate', builtinsOnly: true, fields: fields[parameter] });
    parseFilter(template.render(example, environment));
  } catch (error) {
    if (error instanceof TemplateSyntaxError || error instanceof TemplateRenderError || error instanceof FilterSyntaxError)
      throw new BadRequest(`invalid ${parameter}: ${error.message}`);
    throw error;
  }
}

/** Checks the syntax of the template alone. @throws BadRequest naming the parameter. */
export function compileFilter(text: string, parameter: 'userfilter' | 'groupfilter'): Template {
  try {
    return compileTemplate(text, { name: 'queryTemplate', builtinsOnly: true });
  } catch (error) {
    if (error instanceof TemplateSyntaxError || error instanceof TemplateRenderError)
      throw new BadRequest(`invalid ${parameter}: ${error.message}`);
    throw error;
  }
}
