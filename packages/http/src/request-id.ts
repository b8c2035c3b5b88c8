/** The header with the id of the call: that of the envelope, where there is one, and of the audit log, where the core has seen the call. */
export const REQUEST_ID = 'X-Strongroom-Request-Id';
