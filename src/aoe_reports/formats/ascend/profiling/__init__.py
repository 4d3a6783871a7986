"""How profiles are taken: the options of the profiler (`options`) and what each question needs (`recipes`)."""
