/** What OAuth calls an error of its endpoints. */
export type OAuthCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_id'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_token'
  | 'max_age_violation'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

/** A refusal in the form of OAuth: clients read `error`, people `error_description`. */
export class OAuthRefusal extends Error {
  override readonly name = 'OAuthRefusal';
  readonly code: OAuthCode;

  constructor(code: OAuthCode, description: string) {
    super(description);
    this.code = code;
  }
}
