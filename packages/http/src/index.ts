export type { ApiOptions, Observation } from './api-handler.ts';
export { coreRouter } from './core-router.ts';
export type { CoreHandler, CoreRequest, CoreResponse, CorsDecision, CorsPolicy } from './core-types.ts';
export { CERTIFICATE_DECODERS, type CertificateDecoder, type ForwardedCertificateOptions } from './forwarded-certificate.ts';
export { stopGracefully } from './graceful-stop.ts';
export { createHttpServer, type HttpServerOptions } from './http-server.ts';
export { acceptListVerb } from './list-verb.ts';
export { siteApp, type SiteOptions } from './site.ts';
