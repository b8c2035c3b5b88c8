import { BadRequest, own, parseDuration } from '@strongroom/engine-sdk';
import type { TemplateContext } from '../identity/identity-cache.ts';

/** What templates are filled in with. */
export interface TemplateFacts {
  readonly identity: TemplateContext;
  /** Seconds since the epoch. */
  readonly now: number;
}

/** What one `{{…}}` stands for. */
export interface Selector {
  /** A number of seconds, which a text can hold. */
  readonly isTime: boolean;
  /** '' for what the entity does not have; {} and [] where several values are asked for. */
  resolve(facts: TemplateFacts): unknown;
}

type Pairs = Readonly<Record<string, string>>;

/** @throws BadRequest for a name that nothing has */
export function selectorOf(text: string): Selector {
  const time = /^time\.now(?:\.(plus|minus)\.(.+))?$/.exec(text);
  if (time) return timeSelector(time[1], time[2]);
  const resolve = entityResolver(text);
  if (!resolve) throw new BadRequest(`error parsing template: {{${text}}} is not known`);
  return { isTime: false, resolve };
}

function timeSelector(direction: string | undefined, span = '0'): Selector {
  let seconds: number;
  try {
    seconds = parseDuration(span);
  } catch (error) {
    throw new BadRequest(`error parsing template: ${JSON.stringify(span)} is not a duration: ${(error as Error).message}`);
  }
  const offset = direction === 'minus' ? -seconds : seconds;
  return { isTime: true, resolve: ({ now }) => Math.floor(now + offset) };
}

function entityResolver(text: string): Selector['resolve'] | undefined {
  switch (text) {
    case 'identity.entity.id':
      return ({ identity }) => identity.entity.id;
    case 'identity.entity.name':
      return ({ identity }) => identity.entity.name;
    case 'identity.entity.groups.ids':
      return ({ identity }) => identity.groups.map(({ id }) => id);
    case 'identity.entity.groups.names':
      return ({ identity }) => identity.groups.map(({ name }) => name);
  }
  const alias = /^identity\.entity\.aliases\.([^.]+)\.(.+)$/s.exec(text);
  if (alias) return aliasResolver(alias[1]!, alias[2]!);
  return pairsResolver(text, 'identity.entity.metadata', ({ identity }) => identity.entity.metadata);
}

function aliasResolver(accessor: string, field: string): Selector['resolve'] | undefined {
  const aliasOf = ({ identity }: TemplateFacts) => own(identity.entity.aliases, accessor);
  if (field === 'id') return (facts) => aliasOf(facts)?.id ?? '';
  if (field === 'name') return (facts) => aliasOf(facts)?.name ?? '';
  return (
    pairsResolver(field, 'metadata', (facts) => aliasOf(facts)?.metadata) ??
    pairsResolver(field, 'custom_metadata', (facts) => aliasOf(facts)?.custom_metadata)
  );
}

/** `metadata` is all of it; `metadata.K` the value of one key, which may have dots. */
function pairsResolver(text: string, name: string, pairsOf: (facts: TemplateFacts) => Pairs | undefined): Selector['resolve'] | undefined {
  if (text === name) return (facts) => ({ ...pairsOf(facts) });
  if (!text.startsWith(`${name}.`) || text.length === name.length + 1) return undefined;
  const key = text.slice(name.length + 1);
  return (facts) => own(pairsOf(facts), key) ?? '';
}
