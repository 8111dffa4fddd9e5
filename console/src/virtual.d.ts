declare module 'virtual:destination-kinds' {
  const kinds: readonly import('./api/destination-kinds').DestinationKind[];
  export default kinds;
}
