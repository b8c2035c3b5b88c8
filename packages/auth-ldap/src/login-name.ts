import { foldName } from '@strongroom/engine-sdk';
import type { LdapAuthConfig } from './config.ts';
import { userName } from './mappings.ts';

type NameConfig = Pick<LdapAuthConfig, 'upndomain' | 'netbiosname' | 'case_sensitive_names'>;

/** A name as given at login, without its domain and the spaces around it, and the canonical form that stands for it in this mount. */
export interface LoginName {
  readonly typed: string;
  readonly folded: string;
}

export function loginName(config: NameConfig, username: string): LoginName {
  const typed = withoutDomain(config, username.trim());
  return { typed, folded: userName(typed, config.case_sensitive_names) };
}

/** `ann@corp.example` and `CORP\ann` are `ann`, where these are names of the directory's domain. */
export function withoutDomain({ upndomain, netbiosname }: Pick<NameConfig, 'upndomain' | 'netbiosname'>, name: string): string {
  const at = name.lastIndexOf('@');
  if (upndomain !== '' && at > 0 && foldName(name.slice(at + 1)) === foldName(upndomain)) return name.slice(0, at).trim();
  const short = netbiosname ?? upndomain.split('.')[0]!;
  const slash = name.indexOf('\\');
  if (short !== '' && slash > 0 && foldName(name.slice(0, slash)) === foldName(short)) return name.slice(slash + 1).trim();
  return name;
}
