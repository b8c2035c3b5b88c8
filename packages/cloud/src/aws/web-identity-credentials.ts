import type { STSClientConfig } from '@aws-sdk/client-sts';
import { CloudFailed } from '../cloud-error.ts';
import type { WebIdentity } from '../cloud-provider.ts';
import { faultOf } from './aws-faults.ts';
import type { AwsSdk } from './aws-sdk.ts';
import type { FallbackSts } from './fallback-sts.ts';

/**
 * Credentials of a role that is assumed with an identity token. The SDK keeps them, and asks again five minutes before they end. A failure is that of the root
 * credential, whatever the call was.
 */
export function webIdentityCredentials(
  { roleArn, sessionName, token }: WebIdentity,
  { sdk, sts }: { readonly sdk: AwsSdk; readonly sts: FallbackSts },
): Extract<STSClientConfig['credentials'], (...args: never[]) => unknown> {
  return async () => {
    let shown = '';
    try {
      shown = await token();
      const command = { RoleArn: roleArn, RoleSessionName: sessionName, WebIdentityToken: shown };
      const { Credentials } = await sts.ask(async (client) => client.send(new sdk.sts.AssumeRoleWithWebIdentityCommand(command)));
      const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '', Expiration } = Credentials ?? {};
      return {
        accessKeyId: AccessKeyId,
        secretAccessKey: SecretAccessKey,
        sessionToken: SessionToken,
        ...(Expiration ? { expiration: Expiration } : {}),
      };
    } catch (error) {
      const { fault } = faultOf(error, [shown]);
      const outcome = fault.outcome === 'refused' ? 'refused' : 'unsent';
      throw new CloudFailed({ ...fault, outcome, text: `role_arn cannot be assumed with an identity token: ${fault.text}` });
    }
  };
}
