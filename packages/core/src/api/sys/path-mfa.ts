import { type AnyPath, BadRequest, f, IssuedToken, path } from '@strongroom/engine-sdk';
import { internalOf, reply } from '../../services/caller/internal-request.ts';
import { credentialsOfPayload } from '../../services/mfa/mfa-credentials.ts';
import type { LoginTokens } from '../../services/tokens/login-tokens.ts';

/** `sys/mfa/validate`: the second step of a login. */
export function mfaPaths({ logins }: { readonly logins: LoginTokens }): AnyPath[] {
  return [
    path('mfa/validate', {
      synopsis: 'Complete a login that needs a second factor.',
      description:
        'A login that requires a second factor returns a request id. Send it with the codes to complete the login and get the token. After a wrong code, the caller ' +
        'can try again for five minutes. Each code works only once.',
      access: 'unauthenticated',
      fields: {
        mfa_request_id: f.string('The mfa_request_id of the login.', { default: '' }),
        mfa_payload: f.map('Codes by the id or the name of an MFA method: {"METHOD": ["CODE"]}.', { default: {} }),
      },
    }).update({
      summary: 'Complete a login',
      response: IssuedToken,
      handle: async (req) => {
        if (req.data.mfa_request_id === '') throw new BadRequest('missing request ID');
        const credentials = credentialsOfPayload(req.data.mfa_payload);
        const { remoteAddress = '' } = internalOf(req).request;
        const { auth, warnings } = await logins.prove(req.data.mfa_request_id, { credentials, remoteAddress });
        return reply({ auth, warnings: warnings.length > 0 ? warnings : null });
      },
    }),
  ];
}
