import { BadRequest, issue, type EngineHost, type EngineRequest, type SecretType } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { during } from './cloud-error.ts';
import type { SessionPolicies, TemporaryCredential } from './cloud-provider.ts';
import { shorterThanAsked } from './lease-terms.ts';
import { mergePolicies } from './policy-document.ts';
import type { CredentialType } from './records.ts';
import type { Role } from './roles.ts';
import type { Root } from './root.ts';
import { requireSessionLength, requireSessionName, requireSessionPolicies } from './session-limits.ts';
import { safeName } from './user-names.ts';

/** The provider's limit of session names. */
const LONGEST_SESSION_NAME = 64;
/** Seconds, where neither the caller nor the role says. */
const DEFAULT_TTL = 3_600;
/** So much the clocks of the provider and of the server may differ, with the time that the answer took. Seconds. */
const CLOCK_SKEW = 60;

const Internal = Type.Object({ role: Type.String() });

/** What a caller may ask for. */
export interface SessionWish {
  readonly role_arn?: string | undefined;
  readonly role_session_name?: string | undefined;
  readonly mfa_code?: string | undefined;
  /** Seconds. */
  readonly ttl?: number | undefined;
}

/** What will be asked of the provider. */
export interface SessionPlan {
  readonly name: string;
  /** '' for credentials without a role. */
  readonly roleArn: string;
  /** '' for none. */
  readonly mfaCode: string;
  readonly seconds: number;
  readonly warnings: readonly string[];
}

/** Credentials that end by themselves, and cannot be taken back before. */
export class TemporaryCredentials {
  readonly secret: SecretType<typeof Internal>;
  readonly #host: EngineHost;
  readonly #root: Root;

  constructor(host: EngineHost, root: Root) {
    this.#host = host;
    this.#root = root;
    this.secret = { type: 'sts', internal: Internal, revoke: async () => undefined };
  }

  async create(req: EngineRequest, roleName: string, role: Role, type: CredentialType, wish: SessionWish) {
    const plan = await this.plan(req.caller.displayName, roleName, role, type, wish);
    const policies = await this.policies(role, req.signal);
    if (type === 'federation_token') requireSomePolicy(policies, type);
    const credential = await this.#ask(role, type, plan, policies, req.signal);
    const left = Math.max(0, Math.floor((credential.expires.getTime() - this.#host.clock.millis()) / 1_000));
    const isShorter = left < plan.seconds - CLOCK_SKEW;
    const seconds = isShorter ? Math.max(1, left) : plan.seconds;
    const shorter = `the provider gave a credential of ${left} s, where ${plan.seconds} s were asked for`;
    return {
      data: {
        access_key: credential.access_key,
        secret_key: credential.secret_key,
        security_token: credential.session_token,
        session_token: credential.session_token,
        ...(type === 'assumed_role' ? { arn: credential.arn } : {}),
        ttl: left,
      },
      secret: issue(this.secret, { internal: { role: roleName }, terms: { ttl: seconds, maxTtl: seconds } }),
      warnings: isShorter ? [...plan.warnings, shorter] : plan.warnings,
    };
  }

  /** @throws BadRequest for a role that may not be assumed, or that cannot be chosen. */
  async plan(displayName: string, roleName: string, role: Role, type: CredentialType, wish: SessionWish): Promise<SessionPlan> {
    const { names, record } = await this.#root.require();
    const wanted = wish.ttl || role.default_sts_ttl || DEFAULT_TTL;
    const { ttl: seconds } = this.#host.limit({ ttl: wanted, maxTtl: role.max_sts_ttl });
    if (type !== 'iam_user') requireSessionLength(type, seconds);
    const short = shorterThanAsked(wish.ttl || role.default_sts_ttl, seconds, 'max_sts_ttl of the role or the maximum of the mount');
    if (type !== 'assumed_role') {
      if (record.role_arn !== undefined)
        throw new BadRequest(`${type} needs access_key in config/root: AWS gives no such credential to a role, which config/root is`);
      const mfaCode = codeFor(role, type, wish.mfa_code);
      return { name: names.next('STS', displayName, roleName), roleArn: '', mfaCode, seconds, warnings: short };
    }
    const roleArn = chosenRole(role, roleName, wish.role_arn);
    if (wish.role_session_name === undefined || wish.role_session_name === '') {
      return { name: names.next('IAM', displayName, roleName), roleArn, mfaCode: '', seconds, warnings: short };
    }
    const name = safeName(wish.role_session_name);
    requireSessionName(name);
    if (name.length <= LONGEST_SESSION_NAME) return { name, roleArn, mfaCode: '', seconds, warnings: short };
    const cut = `the role session name was truncated to ${LONGEST_SESSION_NAME} characters to fit within IAM session name length limits`;
    return { name: name.slice(0, LONGEST_SESSION_NAME), roleArn, mfaCode: '', seconds, warnings: [...short, cut] };
  }

  /** The policies that the credential is restricted to: the role's, and those of its groups. @throws BadRequest for groups without any, and for too many. */
  async policies(role: Role, signal: AbortSignal): Promise<SessionPolicies> {
    const policies = await this.#policies(role, signal);
    requireSessionPolicies(policies, role.iam_groups.length > 0);
    return policies;
  }

  async #policies(role: Role, signal: AbortSignal): Promise<SessionPolicies> {
    if (role.iam_groups.length === 0) return { policyArns: role.policy_arns, policyDocument: role.policy_document };
    const reading = this.#root.use(async (session) => session.groupPolicies(role.iam_groups, signal));
    const groups = await during('Error reading the policies of iam_groups', reading);
    const policyArns = [...new Set([...role.policy_arns, ...groups.arns])];
    const policyDocument = mergePolicies([role.policy_document, ...groups.documents]);
    if (policyArns.length === 0 && policyDocument === '') {
      throw new BadRequest(`iam_groups: ${role.iam_groups.join(', ')} have no policies, and the credential would not be restricted at all`);
    }
    return { policyArns, policyDocument };
  }

  async #ask(
    role: Role,
    type: CredentialType,
    { name, seconds, roleArn, mfaCode }: SessionPlan,
    policies: SessionPolicies,
    signal: AbortSignal,
  ): Promise<TemporaryCredential> {
    if (type === 'federation_token') {
      const federation = this.#root.use(async (session) => session.federate({ name, seconds, ...policies }, signal));
      return during('Error generating STS keys', federation);
    }
    if (type === 'session_token') {
      const asked = { seconds, mfaSerialNumber: role.mfa_serial_number ?? '', mfaCode };
      return during(
        'Error generating STS keys',
        this.#root.use(async (session) => session.sessionToken(asked, signal)),
      );
    }
    const asked = { name, seconds, roleArn, externalId: role.external_id, tags: role.session_tags, ...policies };
    return during(
      'Error assuming role',
      this.#root.use(async (session) => session.assumeRole(asked, signal)),
    );
  }
}

function chosenRole(role: Role, roleName: string, asked: string | undefined): string {
  const [only, another] = role.role_arns;
  const roleArn = asked || (another === undefined ? only : undefined);
  if (roleArn === undefined) throw new BadRequest('did not supply a role_arn parameter and unable to determine one');
  if (!role.role_arns.includes(roleArn)) {
    throw new BadRequest(`role_arn ${JSON.stringify(roleArn)} not in allowed role arns for Vault role ${JSON.stringify(roleName)}`);
  }
  return roleArn;
}

/** A code is used up by the try: what cannot be right is refused before. @throws BadRequest */
function codeFor({ mfa_serial_number: serial = '' }: Role, type: CredentialType, code = ''): string {
  if (type !== 'session_token') return '';
  if (serial === '' && code !== '') throw new BadRequest('mfa_code is for a role with mfa_serial_number, which this role does not have');
  if (serial !== '' && !/^\d{6}$/.test(code))
    throw new BadRequest('mfa_code must be the six digits that the MFA device of the role shows now');
  return code;
}

function requireSomePolicy({ policyArns, policyDocument }: SessionPolicies, type: CredentialType): void {
  if (policyArns.length > 0 || policyDocument !== '') return;
  throw new BadRequest(`must specify at least one of policy_arns or policy_document with ${type} credential_type`);
}
