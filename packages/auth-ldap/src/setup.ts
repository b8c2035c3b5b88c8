import type { Template, TemplateEnvironment } from '@strongroom/go-template';
import { type Clock, type Log } from '@strongroom/engine-sdk';
import {
  compileFilter,
  createDirectory,
  defaultUserFilter,
  settingsOf,
  type Directory,
  withOtherPasswords,
  type SearchRequest,
  type ServiceBinding,
} from '@strongroom/ldap-client';
import type { LdapAuthConfig } from './config.ts';

/** A configuration made ready for logins: made once for all of them. */
export interface Setup {
  readonly config: LdapAuthConfig;
  readonly directory: Directory;
  /** The attribute that holds the name of a user. */
  readonly userAttribute: string;
  readonly groupAttribute: string;
  readonly dereference: NonNullable<SearchRequest['derefAliases']>;
  /** Who searches for users; undefined when the name to bind is put together from the name given at login. */
  readonly searcher: ServiceBinding | undefined;
  /** Who searches for groups; undefined when the user does. */
  readonly groupSearcher: ServiceBinding | undefined;
  readonly searchesGroups: boolean;
  /** The name of an entry that does not exist. */
  readonly nobodyDn: string;
  renderUserFilter(data: { readonly UserAttr: string; readonly Username: string }): string;
  renderGroupFilter(data: { readonly UserDN: string; readonly Username: string }): string;
}

const nobody: ServiceBinding = { dn: '', password: '' };

export interface SetupParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly template: TemplateEnvironment;
  /** Of the service account, where the one of the configuration is refused. Absent: there are none. */
  readonly otherPasswords?: () => Promise<readonly string[]>;
}

/** Connects to nothing. */
export function makeSetup(config: LdapAuthConfig, { clock, log, template, otherPasswords }: SetupParts): Setup {
  const service = config.binddn !== '' && config.bindpass !== '' ? { dn: config.binddn, password: config.bindpass } : undefined;
  const discoverer = config.binddn === '' ? nobody : { dn: config.binddn, password: '', allowUnauthenticated: true };
  const plain = createDirectory(settingsOf(config), { clock, log });
  const userFilter = compileFilter(config.userfilter === '' ? defaultUserFilter : config.userfilter, 'userfilter');
  const groupFilter = compileFilter(config.groupfilter, 'groupfilter');
  return {
    config,
    directory: otherPasswords && config.root ? withOtherPasswords(plain, otherPasswords) : plain,
    userAttribute: config.userattr === '' ? 'cn' : config.userattr,
    groupAttribute: config.groupattr === '' ? 'cn' : config.groupattr,
    dereference: dereferenceOf(config.dereference_aliases, log),
    searcher: service ?? (config.discoverdn ? discoverer : undefined),
    groupSearcher: config.anonymous_group_search ? nobody : service,
    searchesGroups: config.use_token_groups || (config.groupdn !== '' && config.groupfilter !== ''),
    nobodyDn: `cn=${Buffer.from(template.randomBytes(16)).toString('hex')}${config.userdn === '' ? '' : `,${config.userdn}`}`,
    renderUserFilter: (data) => rendered(userFilter, data, template),
    renderGroupFilter: (data) => rendered(groupFilter, data, template),
  };
}

function rendered(filter: Template, data: Readonly<Record<string, string>>, environment: TemplateEnvironment): string {
  return filter.render(data, environment).trim();
}

/** What a configuration says that means nothing: it is stored, as others do, and works as its default. */
export function dereferenceWarnings({ dereference_aliases: value }: Pick<LdapAuthConfig, 'dereference_aliases'>): string[] {
  if (isDereference(value)) return [];
  return ['dereference_aliases is none of never, finding, searching, always; aliases are not dereferenced'];
}

function dereferenceOf(value: string, log: Log): Setup['dereference'] {
  if (isDereference(value)) return value;
  for (const warning of dereferenceWarnings({ dereference_aliases: value })) log.warn(warning, { value });
  return 'never';
}

function isDereference(value: string): value is Setup['dereference'] {
  return value === 'never' || value === 'finding' || value === 'searching' || value === 'always';
}
