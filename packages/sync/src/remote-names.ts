import { compileTemplate, TemplateRenderError, TemplateSyntaxError, type Template } from '@strongroom/go-template';
import { NAME_TEMPLATE_FIELDS, nameComplaint, type NameLimits, type SyncDestinationPlugin } from '@strongroom/sync-sdk';
import type { AssociationRecord, DestinationRecord } from './records.ts';
import { Refusal } from './sync-status.ts';

/** Names must come out the same whenever they are rendered, so nothing that changes is there. */
const CHANGING = ['random', 'unix_time', 'unix_time_millis', 'timestamp', 'uuid'];

const compiled = new Map<string, Template>();
const MOST_COMPILED = 500;

/** @throws TemplateSyntaxError or TemplateRenderError */
function compile(source: string): Template {
  let template = compiled.get(source);
  if (!template) {
    const none = CHANGING.map((name) => [name, { parameters: [], rest: 'any', call: () => changing(name) }] as const);
    template = compileTemplate(source, { name: 'secret_name_template', fields: NAME_TEMPLATE_FIELDS, functions: Object.fromEntries(none) });
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    compiled.set(source, template);
  }
  return template;
}

function changing(name: string): never {
  throw new TemplateRenderError(`${name} cannot be used: the name of a secret must come out the same every time`, 'function');
}

const environment = { now: () => new Date(0), randomBytes: (count: number) => new Uint8Array(count) };

/** What is wrong with a template, in words; undefined if it can be used. */
export function templateComplaint(source: string): string | undefined {
  try {
    compile(source).render(Object.fromEntries(NAME_TEMPLATE_FIELDS.map((name) => [name, 'x'])), environment);
    return undefined;
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError || error instanceof TemplateRenderError)) throw error;
    return /can't evaluate field/.test(error.message) ? `${error.message}; there are ${NAME_TEMPLATE_FIELDS.join(', ')}` : error.message;
  }
}

/** The template of a destination. That of the type is completed where each key is a secret of its own, so that their names differ. */
export function settingsOf(
  plugin: SyncDestinationPlugin,
  destination: Pick<DestinationRecord, 'secret_name_template' | 'granularity'>,
): Pick<AssociationRecord, 'secret_name_template' | 'granularity'> {
  return { secret_name_template: templateOf(plugin, destination), granularity: destination.granularity };
}

export function templateOf(
  plugin: SyncDestinationPlugin,
  destination: Pick<DestinationRecord, 'secret_name_template' | 'granularity'>,
): string {
  const { secretNameTemplate: usual } = plugin.options;
  if (destination.secret_name_template !== '') return destination.secret_name_template;
  return destination.granularity === 'secret-key' && !usual.includes('.SecretKey') ? `${usual}/{{ .SecretKey }}` : usual;
}

/** The remote name of a secret, or of one key of it. @throws Refusal when it does not fit the provider */
export function remoteName(
  destination: Pick<DestinationRecord, 'type' | 'name'>,
  association: Pick<AssociationRecord, 'mount_path' | 'accessor' | 'secret_name' | 'secret_name_template'>,
  key: string,
  limits: NameLimits,
): string {
  const mount = association.mount_path.replace(/\/$/, '');
  let rendered: string;
  try {
    rendered = compile(association.secret_name_template).render(
      {
        DestinationType: destination.type,
        DestinationName: destination.name,
        NamespacePath: '',
        NamespaceBaseName: '',
        NamespaceID: 'root',
        MountPath: mount,
        MountBaseName: baseName(mount),
        MountAccessor: association.accessor,
        SecretPath: association.secret_name,
        SecretBaseName: baseName(association.secret_name),
        SecretKey: key,
      },
      environment,
    );
  } catch (error) {
    if (error instanceof TemplateRenderError) throw new Refusal('invalid_name', error.message);
    throw error;
  }
  const name = limits.normalize(rendered);
  const complaint = nameComplaint(limits, name);
  if (complaint !== undefined) {
    throw new Refusal('invalid_name', `the name ${JSON.stringify(name)} that secret_name_template gives ${complaint}`);
  }
  return name;
}

/** Under which a name is claimed: names that the provider takes for one are one. */
export function nameId(destination: string, name: string, limits: NameLimits): string {
  return `${destination}/${limits.caseSensitive ? name : name.toLowerCase()}`;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
