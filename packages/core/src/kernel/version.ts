/**
 * What clients read to know what the server can do: the version of the API it speaks, with our own version as build metadata.
 * It is strict semantic versioning, since clients parse it.
 */
export const API_COMPATIBLE_VERSION = '2.0.0';
/** The version of Strongroom itself. */
export const PRODUCT_VERSION = '0.1.0';
/** What health and seal status answer: the version of the API, and that of Strongroom. */
export const VERSION = `${API_COMPATIBLE_VERSION}+strongroom.${PRODUCT_VERSION}`;
