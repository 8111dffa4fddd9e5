// The part of aws4 that is used here: the package has no types.
declare module 'aws4' {
  interface Request {
    readonly method: string;
    readonly path: string;
    readonly service: string;
    readonly region: string;
    readonly headers: Readonly<Record<string, string>>;
  }
  interface Credentials {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  }
  const aws4: {
    sign(request: Request, credentials: Credentials): { readonly headers: Readonly<Record<string, string>> };
  };
  // oxlint-disable-next-line import/no-default-export -- it is how the package exports itself
  export default aws4;
}
