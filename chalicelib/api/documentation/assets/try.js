window.ui = SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  requestInterceptor: (request) => {
    request.headers["X-Correlation-ID"] ??= crypto.randomUUID();
    return request;
  },
});
