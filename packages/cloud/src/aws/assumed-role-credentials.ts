import type { STSClientConfig } from '@aws-sdk/client-sts';
import { CloudFailed, CloudRefused, CloudThrottled, isCloudError } from '../cloud-error.ts';
import type { AssumedRole } from '../cloud-provider.ts';
import { faultOf } from './aws-faults.ts';
import type { AwsSdk } from './aws-sdk.ts';
import type { FallbackSts } from './fallback-sts.ts';

/** Milliseconds before their end from which the SDK takes credentials for expired. */
const AHEAD = 300_000;

interface RoleCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
}

/**
 * Credentials of a role that the root credential assumes. All clients share them, and they are asked for again five minutes before they end. While
 * the role cannot be assumed, no call is sent.
 */
export function assumedRoleCredentials(
  { roleArn, sessionName, externalId }: AssumedRole,
  { sdk, sts }: { readonly sdk: AwsSdk; readonly sts: FallbackSts },
): Extract<STSClientConfig['credentials'], (...args: never[]) => unknown> {
  const assume = async (): Promise<RoleCredentials> => {
    const command = { RoleArn: roleArn, RoleSessionName: sessionName, ...(externalId === '' ? {} : { ExternalId: externalId }) };
    try {
      const { Credentials } = await sts.ask(async (client) => client.send(new sdk.sts.AssumeRoleCommand(command)));
      const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '', Expiration = new Date(0) } = Credentials ?? {};
      return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken, expiration: Expiration };
    } catch (error) {
      throw notAssumed(roleArn, error);
    }
  };
  let kept: Promise<RoleCredentials> | undefined;
  let ends = 0;
  return async () => {
    if (kept === undefined || ends - Date.now() < AHEAD) {
      const asked = assume();
      kept = asked;
      ends = Infinity;
      try {
        const { expiration } = await asked;
        if (kept === asked) ends = expiration.getTime();
      } catch (error) {
        if (kept === asked) kept = undefined;
        throw error;
      }
    }
    return kept;
  };
}

function notAssumed(roleArn: string, error: unknown): Error {
  const known = isCloudError(error) ? error : faultOf(error, []);
  const fault = { ...known.fault, outcome: 'unsent' as const, text: `assume_role_arn: ${roleArn} cannot be assumed: ${known.fault.text}` };
  if (known instanceof CloudRefused) return new CloudRefused(fault);
  return known instanceof CloudThrottled ? new CloudThrottled(fault) : new CloudFailed(fault);
}
