document.querySelector("p").textContent = "This release has no console yet. The API is described at /docs.";
