import { own } from '@strongroom/engine-sdk';

/** A label of DNS, as names of namespaces are. */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** A name of DNS, as names of service accounts are. */
const NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;
const UID = /^[\w-]{1,128}$/;
const LEGACY = 'kubernetes.io/serviceaccount/';

/** Whom a token names. */
export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The secret that a token of earlier versions is kept in; '' for others. */
  readonly secretName: string;
}

/** Undefined where the claims name no account, or one with a name that no cluster allows. */
export function serviceAccountOf(claims: Readonly<Record<string, unknown>>): ServiceAccount | undefined {
  const projected = record(own(claims, 'kubernetes.io'));
  const account = record(own(projected, 'serviceaccount'));
  const namespace = projected ? own(projected, 'namespace') : own(claims, `${LEGACY}namespace`);
  const name = projected ? own(account, 'name') : own(claims, `${LEGACY}service-account.name`);
  const uid = projected ? own(account, 'uid') : own(claims, `${LEGACY}service-account.uid`);
  const secretName = projected ? '' : (own(claims, `${LEGACY}secret.name`) ?? '');
  if (!fits(NAMESPACE, namespace) || !fits(NAME, name) || !fits(UID, uid)) return undefined;
  return secretName === '' || fits(NAME, secretName) ? { namespace, name, uid, secretName } : undefined;
}

/** By which the API server calls the account. */
export function userNameOf({ namespace, name }: ServiceAccount): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

function fits(pattern: RegExp, value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value);
}
